"""The table that is made of a file by what is declared: what it holds, what is refused with row and column, what its
owner is told; and one person moves no more than in a file that needs none of it.

One person's rows never change how another person's rows are read, whatever stands in them, in any kind of file.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dprl import SpecError
from dprl.mdp.tabular import Array
from dprl.metrics.attack import surely
from dprl.privacy.exact import EXACT, STEPS
from dprl.simulation.uploads import table as tables
from dprl.simulation.uploads.declaration import Declaration, declaration, declaration_text
from dprl.simulation.uploads.ledger import together
from dprl.simulation.uploads.noise import noise_of
from dprl.simulation.uploads.prepare import Counted, counted
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.spec import NOWHERE, UploadSpec
from dprl.statistics import DATASET, REPLACE_ONE, REWARDS, TRANSITIONS
from tests.problems import few, refused

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


Rows = list[list[Any]]
FIELDS = ["who", "step", "room", "dose", "gain"]
COLUMNS = {"episode": "who", "state": "room", "action": "dose", "reward": "gain"}
# Labels that programs take for numbers, truth values or missing ones.
TEXTS = [
    "01", "1", "1.0", "1.10", "1.1", "TRUE", "True", "true", "1E5", "100000.0", "100000", "+1", "-0", "0", "nan", "NA",
    "None", " x", "x", "x ", "0001234", "9007199254740993", "9007199254740992", "1_000", "inf", "2020-01-01", "٣", "½",
    'a"b', "a,b", "é", "e\N{COMBINING ACUTE ACCENT}",
]  # fmt: skip
VALUES: list[Any] = [
    *TEXTS, 1, 1.0, 1.5, 2, True, False, 100000, 1e5, -0.0, 2**53 - 1, 2**60, np.float32(0.1), np.int8(1), np.True_,
    float(2**60), None, float("nan"),
]  # fmt: skip
TYPED: list[list[Any]] = [TEXTS, [1, 2, 7, 2**53 - 1, 2**60], [1.0, 2.0, 1.5, -0.0, 1e5, 1e16], [True, False]]
IDS: list[Any] = [
    *["007", "7", "0007", "2", "2.0", "0001234", "1234", "TRUE", "1E3", "x"],
    str(2**53),
    str(2**53 + 1),
]


def as_csv(rows: Rows) -> io.BytesIO:
    text = io.StringIO()
    csv.writer(text).writerows([FIELDS, *rows])
    return io.BytesIO(text.getvalue().encode())


def as_frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=FIELDS)


def as_parquet(rows: Rows) -> io.BytesIO:
    """Raises pa.ArrowException if a column has values of several types, of which there is no such file."""
    file = io.BytesIO()
    columns = list(zip(*rows, strict=True))
    table = pa.table({name: pa.array(column) for name, column in zip(FIELDS, columns, strict=True)})
    pq.write_table(table, file)
    return io.BytesIO(file.getvalue())


WAYS: dict[str, Callable[[Rows], Any]] = {"csv": as_csv, "frame": as_frame, "parquet": as_parquet}


def read(states: list[str], actions: list[str], H: int = 1, **more: str) -> Declaration:
    public = {"states": states, "actions": actions, "horizon": H, "columns": COLUMNS}
    return declaration(declaration_text(public | more))


def declared(rng: np.random.Generator, often: list[Any], values: list[Any], H: int) -> Declaration:
    """Declare some of the labels that occur often, and others."""
    first, texts = ({tables.normal(label_of(value)) for value in given} - {""} for given in (often, values))
    others = sorted(texts - first)
    states, actions = (
        sorted({*sorted(first)[: rng.integers(1, 3)], *map(str, rng.choice(others, 2, replace=False))})
        for _ in range(2)
    )
    return read([*states, "other"], [*actions, "other"], H, absorbing="other")


def label_of(value: Any) -> str:
    try:
        return tables.written(value)
    except ValueError:
        return ""


def one_person(rng: np.random.Generator, name: Any, values: list[Any], H: int) -> Rows:
    def drawn() -> Any:
        return values[rng.integers(len(values))]

    steps = int(rng.integers(1, H + 3))
    rows: Rows = [[name, h, drawn(), drawn(), float(rng.integers(3))] for h in range(steps)]
    rng.shuffle(rows)
    return rows


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("pool", ["texts", "values"])
def test_replacing_a_person_changes_nobody_elses_contribution(
    way: str, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """State the property for files drawn at random: n stays, and sums move by one person at most."""
    rng, compared = np.random.default_rng([len(way), len(pool)]), 0
    monkeypatch.setattr(tables, "ROWS", 5)  # so that a piece may hold one kind of label only
    values: list[Any] = TEXTS if pool == "texts" else VALUES[:-3]
    anything: list[Any] = VALUES if way != "parquet" else TEXTS
    for _ in range(2000):  # many files are refused
        if compared == few(80):
            break
        H = int(rng.integers(1, 4))
        if pool == "values" and way == "parquet":  # whose columns have one type
            values = anything = TYPED[int(rng.integers(len(TYPED)))]
        few_values = [values[i] for i in rng.integers(len(values), size=3)]
        public = declared(rng, few_values, [*values, *TEXTS[:8]], H)
        names = [IDS[i] for i in rng.permutation(len(IDS))[:8]]
        others = [one_person(rng, name, few_values, H) for name in names[1:]]
        place = int(rng.integers(len(others) + 1))
        found: list[Counted] = []
        for mine in (few_values, anything):  # like the others, or not
            files = [*others[:place], one_person(rng, names[0], mine, H), *others[place:]]
            try:
                found.append(counted(WAYS[way]([row for rows in files for row in rows]), public))
            except (SpecError, pa.ArrowException):
                break
        if len(found) == 2:
            compared += 1
            one, two = found
            assert one.n == two.n == len(names)
            moved = np.abs(one.record - two.record)
            assert moved[..., :-1].sum() <= 4 * H
            assert moved[..., -1].sum() <= 2 * H
    assert compared == few(80)


@pytest.mark.parametrize("way", WAYS)
def test_each_row_counts_as_its_own_texts_say(way: str) -> None:
    """Compare with an oracle that reads each value by itself."""
    rng = np.random.default_rng(5)
    for values in (TEXTS, [1, 2, 3.5, 2.0, 7], [True, False], ["01", "2"]):
        public = declared(rng, values[:3], [*values, *TEXTS[:4]], 1)
        rows: Rows = [
            [f"0{i}", 0, values[rng.integers(len(values))], values[rng.integers(len(values))], 1.0]
            for i in range(60)
        ]
        expected = np.zeros((public.size.S, public.size.A))
        for _, _, room, dose, _ in rows:
            expected[place(room, public.states), place(dose, public.actions)] += 1
        if expected[:-1].sum() == 0 or expected[:, :-1].sum() == 0:
            continue  # refused: no label is declared
        found = counted(WAYS[way](rows), public)
        np.testing.assert_array_equal(found.record[0, :, :, -2], expected)


def place(value: Any, labels: tuple[str, ...]) -> int:
    """Return where a value is counted: as it is written, or as the whole number that it is, or last."""
    text = tables.normal(str(int(value)) if isinstance(value, float) and value.is_integer() else str(value))
    whole = text.removesuffix(".0") if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text
    return next((labels.index(each) for each in (text, whole) if each in labels), len(labels) - 1)


@pytest.mark.parametrize("way", WAYS)
def test_people_are_told_apart_by_their_whole_ids(way: str) -> None:
    public = read(["x"], ["2"])
    ids = ["007", "7", "0007", "2", "2.0", *(str(2**53 + i) for i in range(1000)), "0001234", "TRUE", "True"]
    for names in (ids, [*ids[:-1], "word"]):
        assert counted(WAYS[way]([[name, 0, "x", "2", 0.0] for name in names]), public).n == len(ids)


def test_floats_that_hide_different_ids_are_refused() -> None:
    rows: Rows = [[float(2**53 + i), 0, "x", "2", 0.0] for i in range(3)]
    with pytest.raises(SpecError, match=r"row 2, column who: 9007199254740992.0 is not allowed"):
        counted(as_frame(rows), read(["x"], ["2"]))


@pytest.mark.parametrize("way", WAYS)
def test_a_release_tells_no_more_about_one_row_than_is_proved(way: str) -> None:
    """Attack two files that differ in one label, `01` or `x`, each released many times with real noise.

    The lower bound on epsilon (Clopper, Pearson) is above the truth with probability at most 1e-9.
    """
    public = read(["01", "2", "x"], ["2.50"])
    rows: Rows = [[f"{i:07}", 0, ["01", "2"][i % 2], "2.50", 0.0] for i in range(1000)]
    spec = UploadSpec(data=NOWHERE, declared=public.text, n=1000, rho=0.05)
    noise, _ = noise_of(spec)
    scale = noise.scales[TRANSITIONS.family]
    assert noise.mechanism is not None
    draw, delta = EXACT[noise.mechanism.key].draw, 1e-3
    seen = []
    for label in ("01", "x"):
        record = counted(WAYS[way]([[*rows[0][:2], label, *rows[0][3:]], *rows[1:]]), public).record
        sums = TRANSITIONS.sums(record)[0, [0, 2], 0].sum(-1)
        releases = few(1000)
        steps = Fraction(scale) * STEPS
        noisy = [[value + draw(steps) / STEPS for value in sums] for _ in range(releases)]
        seen.append(np.array(noisy) @ [1, -1])  # the label has moved from one count to the other
    assert surely(seen[0], seen[1], delta) <= together(draws_of(spec)).epsilon(delta)
