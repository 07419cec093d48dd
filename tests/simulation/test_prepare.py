"""The table that is made of a file by what is declared: what it holds, what is refused with row and column, what its
owner is told; and one person moves no more than in a file that needs none of it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from dprl.mdp.tabular import Array
from dprl.simulation.uploads.declaration import declaration, declaration_text
from dprl.simulation.uploads.prepare import counted
from dprl.statistics import DATASET, REPLACE_ONE, REWARDS
from tests.problems import refused

PUBLIC: dict[str, Any] = {
    "states": {"severity": ["mild", "severe"], "age": [40, 65]},
    "actions": ["watch", "treat"],
    "horizon": 3,
    "reward_range": [0, 2],
    "columns": {"episode": "patient", "step": "visit", "action": "drug", "reward": "gain"},
    "absorbing": "gone",
}
HEADING = "patient,visit,severity,age,drug,gain,note\n"
ROWS = [
    "ann,1,mild,39.5,watch,0.5,x",
    "ann,2,mild,40,treat,1,x",
    "ann,3,severe,65,treat,2,x",
    "bob,1,severe,70.0,watch,1,x",
]
STATES = [
    "gone", "mild / under 40", "mild / 40 to 65", "mild / 65 or more",
    "severe / under 40", "severe / 40 to 65", "severe / 65 or more",
]  # fmt: skip


def count(rows: list[str], heading: str = HEADING, **changes: Any) -> tuple[Array, int, list[str]]:
    text = (heading + "\n".join(rows) + "\n").encode()
    found = counted(io.BytesIO(text), declaration(declaration_text(PUBLIC | changes)))
    return found.record, found.n, found.outside.sentences()


def cells(record: Array) -> dict[tuple[int, str, str], list[float]]:
    """What is counted at each step, state and action: next states, and the sum of rewards in units of their range."""
    found = {}
    for h, s, a in np.argwhere(record[..., -2] > 0):
        nexts = [STATES[x] for x in np.flatnonzero(record[h, s, a, :-2])]
        found[int(h), STATES[s], PUBLIC["actions"][a]] = [*nexts, record[h, s, a, -1]]
    return found


def test_a_state_is_made_of_columns_and_a_shorter_episode_goes_on() -> None:
    assert list(declaration(declaration_text(PUBLIC)).states) == STATES
    record, n, told = count(ROWS)
    assert n == 2
    assert cells(record) == {
        (0, "mild / under 40", "watch"): ["mild / 40 to 65", 0.25],
        (1, "mild / 40 to 65", "treat"): ["severe / 65 or more", 0.5],
        (2, "severe / 65 or more", "treat"): ["severe / 65 or more", 1.0],  # nothing follows: the last state
        (0, "severe / 65 or more", "watch"): ["gone", 0.5],
        (1, "gone", "watch"): ["gone", 0.0],
        (2, "gone", "watch"): ["severe / 65 or more", 0.0],
    }
    assert told == ["1 of 2 episodes have fewer steps than 3; they are continued in gone."]
    assert count([ROWS[3], *ROWS[:3]])[2] == told  # whoever comes first, each one's steps are in order


def test_a_list_of_states_may_be_mapped_alone() -> None:
    plain = {"states": ["a", "b"], "actions": ["x", "y"], "horizon": 2, "reward_range": [0, 1]}
    mapped = plain | {"columns": {"state": "ward", "episode": "who"}, "absorbing": ""}
    rows = ["1,1,b,y,1", "2,0,a,x,0.5", "1,0,a,x,0.5", "2,1,z,x,3"]
    record, n, told = count(rows, "who,step,ward,action,reward\n", **mapped)
    ordered = "episode,step,state,action,reward\n1,0,a,x,0.5\n1,1,b,y,1\n2,0,a,x,0.5\n2,1,b,x,1\n"
    public = declaration(declaration_text(plain))
    np.testing.assert_array_equal(record, counted(io.BytesIO(ordered.encode()), public).record)
    assert n == 2
    assert told == [
        "In 1 of 4 rows, column ward has a label that you did not declare: z (1). Each such label counts as b, the "
        "last declared label.",
        "In 1 of 4 rows, column reward is outside the declared range 0 to 1; the file has 0.5 to 3. Each such value "
        "counts as the nearest limit.",
        "3 of 4 rows were not in order, so all rows have been sorted.",
    ]


REFUSED: dict[str, tuple[list[str], str]] = {
    "missing": ([ROWS[0], ROWS[2], ROWS[3]], "row 3, column visit: step 2 of episode ann is missing"),
    "late": ([*ROWS, "cem,2,mild,30,watch,1,x"], "row 6, column visit: step 1 of episode cem is missing"),
    "half a step": ([*ROWS, "ann,1.5,mild,30,watch,1,x"], "row 6, column visit: 1.5 is not a step"),
    "negative step": ([*ROWS, "ann,-1,mild,30,watch,1,x"], "row 6, column visit: -1 is not a step"),
    "no age": ([ROWS[0], ROWS[1].replace(",40,", ",forty,")], "row 3, column age: forty is not a finite number"),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_malformed_is_refused_in_a_sentence_with_row_and_column(
    rows: list[str], sentence: str
) -> None:
    with refused(f"data: {sentence}") as error:
        count(rows)
    assert len(error.value.sentence) < 250


def test_short_episodes_and_columns_that_are_not_there_are_refused() -> None:
    with refused("data: row 5, column visit: episode bob ends after 1 of 3 steps; declare an abs"):
        count(ROWS, absorbing="")
    with refused("data: row 1, column patient: this column is missing. The file has who, visit, sev"):
        count(ROWS, HEADING.replace("patient", "who"))
    with refused("data: row 1, column age: this column appears twice"):
        count(ROWS, HEADING.replace("note", "age"))
    with refused("data: row 1, column age: this column is declared for two purposes"):
        count(ROWS, columns=PUBLIC["columns"] | {"reward": "age"})


def person(rng: np.random.Generator, name: str) -> list[str]:
    """Rows of somebody who does whatever they like for as long as they like."""
    rows = []
    for h in range(int(rng.integers(1, 4))):
        severity, drug = rng.choice(["mild", "severe", "strange"]), rng.choice(["watch", "treat", "other"])
        age, gain = rng.choice(["-5", "39", "40", "1e300"]), rng.choice(["0", "1", "-1e300", "1e308"])
        rows.append(f"{name},{h + 1},{severity},{age},{drug},{gain},")
    return rows


def test_replacing_a_person_by_any_other_moves_no_more_than_is_proved() -> None:
    rng = np.random.default_rng(0)
    others = [row for i in range(20) for row in person(rng, f"p{i}")]
    others += ["q,1,mild,1,watch,0,", "q,2,mild,1,treat,0,"]
    size = declaration(declaration_text(PUBLIC)).size
    change, farthest = DATASET.sensitivity(size, REPLACE_ONE), 0.0
    for _ in range(60):
        both = []
        for _ in range(2):
            rows = [*others, *person(rng, "me")]
            record, n, _ = count([rows[i] for i in rng.permutation(len(rows))])
            assert n == 22
            both.append(record)
        moved = np.abs(both[0] - both[1])
        assert moved[..., :-1].max() <= 1
        assert moved[..., :-1].sum() <= change.l1
        assert (moved[..., :-1] ** 2).sum() <= change.l2_squared
        assert (moved[..., -1] ** 2).sum() <= REWARDS.sensitivity(size, REPLACE_ONE).l2_squared
        farthest = max(farthest, float(moved[..., :-1].sum()))
    assert farthest == change.l1
