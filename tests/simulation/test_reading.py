"""A CSV of trajectories is counted as it is written, refused in a sentence that names row and column, and clipped in
silence; and whatever stands in one person's rows, the counts move by no more than is proved."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dprl import SpecError
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.privacy.exact import STEPS
from dprl.simulation.uploads import reading
from dprl.simulation.uploads.declaration import MOST, declaration, declaration_text
from dprl.simulation.uploads.reading import counted
from dprl.statistics import DATASET, REPLACE_ONE, REWARDS

HEADING = "episode,step,state,action,reward,next_state\n"
GOOD = HEADING + "1,0,a,x,0.5,b\n1,1,b,y,1,a\n2,0,a,x,0.25,a\n2,1,a,y,1,\n"
PUBLIC: dict[str, Any] = {"states": ["a", "b"], "actions": ["x", "y"], "horizon": 2, "rewards": 0.5}


def count(text: str | bytes, **changes: Any) -> tuple[Array, int]:
    data = text.encode() if isinstance(text, str) else text
    return counted(io.BytesIO(data), declaration(declaration_text(PUBLIC | changes)))[:2]


def test_each_row_is_counted_where_it_belongs() -> None:
    record, n = count(GOOD)
    assert n == 2
    assert record.shape == (2, 2, 2, 4)
    np.testing.assert_array_equal(record[0, 0, 0], [1, 1, 2, 0.75])  # to a, to b, n, r
    np.testing.assert_array_equal(record[1, 1, 1], [1, 0, 1, 1])
    np.testing.assert_array_equal(
        record[1, 0, 1], [0, 1, 1, 1]
    )  # nothing follows: the last state, which has no value
    assert record[..., -2].sum() == 4


@pytest.mark.parametrize(
    "same",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),  # as Excel saves it
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("1,0,a", ' 1 ,"0", a').encode(),
        lambda text: text.replace("1,1,", "1,2,").replace("1,0,", "1,1,").encode(),  # steps from 1
        lambda text: "\n".join(",".join([*line.split(",")[::-1], "more"]) for line in text.split()).encode(),
    ],
)
def test_ways_to_write_the_same(same: Callable[[str], bytes]) -> None:
    good = HEADING + "1,0,a,x,0,b\n1,1,b,y,0,a\n"
    np.testing.assert_array_equal(count(same(good))[0], count(good)[0])


def test_what_is_not_declared_is_clipped_in_silence() -> None:
    strange = (
        GOOD.replace("0.5", "7").replace("0.25", "-3").replace(",a,", ",mars,").replace(",a\n", ",mars\n")
    )
    record, n = count(strange)
    clean = GOOD.replace("0.5", "1").replace("0.25", "0").replace(",a,", ",b,").replace(",a\n", ",b\n")
    np.testing.assert_array_equal(record, count(clean.replace("1,b,y,1,b", "1,b,y,1,b"))[0])
    assert n == 2
    record, _ = count(GOOD, reward_range=[-1, 3], rewards=2)
    assert record[0, 0, 0, -1] == (1.5 + 1.25) / 4


def told(text: str, **changes: Any) -> list[str]:
    """What the owner is told of a file."""
    found: list[str] = []
    tell = lambda outside: found.extend(outside.sentences())  # noqa: E731
    counted(io.BytesIO(text.encode()), declaration(declaration_text(PUBLIC | changes)), tell)
    return found


def test_the_owner_is_told_what_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(GOOD) == []  # where nothing follows the last step is no label
    strange = GOOD.replace("0.5", "7").replace("0.25", "-3").replace("1,1,b,y,1,a", "1,1,b,Y,1,A")
    said = [
        "Column action: 1 of 4 rows have a label that you did not declare: Y (1). Each counts as y, the last declared "
        "label.",
        "Column next_state: 1 of 4 rows have a label that you did not declare: A (1). Each counts as b, the last "
        "declared label.",
        "Column reward: 2 of 4 rows are outside the declared range 0 to 1; the file has -3 to 7. Each counts as the "
        "nearest end.",
    ]
    assert told(strange) == said
    monkeypatch.setattr(reading, "ROWS", 2)  # in pieces
    assert told(strange) == said
    many = GOOD + "".join(f"p{i},0,s{i % 7},x,0,b\np{i},1,b,x,0,b\n" for i in range(13))
    assert told(many) == [
        "Column state: 13 of 30 rows have a label that you did not declare: s0 (2), s1 (2), s2 (2), s3 (2), s4 (2) and "
        "2 other labels. Each counts as b, the last declared label."
    ]


def test_whole_numbers_may_be_written_with_a_point() -> None:
    """As pandas writes a column of them in which a cell is empty."""
    numbers = {"states": 2, "actions": 2}
    plain = HEADING + "1,0,0,1,0.5,1\n1,1,1,0,1,0\n2,0,0,1,0.25,0\n2,1,0,1,1,\n"
    pointed = HEADING + "1,0.0,0.0,1.0,0.5,1.0\n1,1.0,1,0.0,1,0.0\n2,0,0.0,1.00,0.25,0.0\n2,1.0,0.0,1.0,1,\n"
    np.testing.assert_array_equal(count(pointed, **numbers)[0], count(plain, **numbers)[0])
    assert told(pointed, **numbers) == []
    versions = {"actions": ["x1.0", "1.0", "y"]}  # labels that are declared as they stand, or are no numbers
    dotted = GOOD.replace(",x,", ",x1.0,").replace("b,y,", "b,1.0,")
    assert told(dotted, **versions) == []
    assert count(dotted, **versions)[0][..., -2].sum((0, 1)).tolist() == [2, 1, 1]
    for wrong, sentence in {
        "1,1,1.5,0": "row 3, column state: 1.5 is not a whole number, as all declared labels are; give one of them.",
        "1,1,1,0.5": "row 3, column action: 0.5 is not a whole number, as all declared labels are; give one of them.",
        "1,1.5,1,0": "row 3, column step: 1.5 where 1 is expected",
    }.items():
        with pytest.raises(SpecError) as error:
            count(plain.replace("1,1,1,0", wrong), **numbers)
        assert error.value.sentence.startswith(sentence)


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "row 1, column episode: the file is empty"),
    "heading only": (HEADING, "row 2, column episode: there are no trajectories"),
    "missing column": (GOOD.replace("reward", "prize"), "row 1, column reward: this column is missing"),
    "column twice": (GOOD.replace("reward", "state"), "row 1, column state: this column stands twice"),
    "no heading": (GOOD.removeprefix(HEADING), "row 1, column episode: this column is missing"),
    "semicolons": (GOOD.replace(",", ";"), "row 1, column episode: columns are separated by semicolons"),
    "tabs": (GOOD.replace(",", "\t"), "row 1, column episode: columns are separated by tabs"),
    "gap": (GOOD.replace("1,1,b", "1,2,b"), "row 3, column step: 2 where 1 is expected"),
    "no step": (GOOD.replace("1,1,b", "1,first,b"), "row 3, column step: first where 1 is expected"),
    "short": (GOOD.replace("1,1,b,y,1,a\n", ""), "row 3, column step: episode 1 has ended after 1 of 2"),
    "long": (GOOD.replace("2,0,a", "1,2,a"), "row 4, column step: episode 1 goes on beyond the declared horizon"),
    "cut off": (GOOD[: GOOD.rindex("2,1")], "row 4, column step: the file ends after 1 of 2 steps of episode 2"),
    "broken": (GOOD.replace("b,y", "a,y"), "row 3, column state: a, but next_state above is b"),
    "twice": (GOOD + "1,0,a,x,0,a\n1,1,a,x,0,a\n", "row 6, column episode: this label stood further up"),
    "NaN": (GOOD.replace("0.25", "NaN"), "row 4, column reward: NaN is not a finite number"),
    "infinite": (GOOD.replace("0.25", "-inf"), "row 4, column reward: -inf is not a finite number"),
    "word": (GOOD.replace("0.25", "good"), "row 4, column reward: good is not a finite number"),
    "empty cell": (GOOD.replace("0.25", ""), "row 4, column reward: it is empty"),
    "empty label": (GOOD.replace(",x,0.5", ",,0.5"), "row 2, column action: it is empty"),
    "no next state": (GOOD.replace(",b\n", ",\n"), "row 2, column next_state: it is empty"),
    "blank line": (GOOD.replace("2,0", "\n2,0"), "row 4, column episode: it is empty"),
    "formula": (GOOD.replace("x,0.5", '"=cmd|x",0.5'), "row 2, column action: =cmd|x is a formula"),
    "latin-1": (GOOD.replace("a,y", "ä,y").encode("latin-1"), "row 5, column state: this is not text in UTF-8"),
    "utf-16": (GOOD.encode("utf-16"), "row 1, column episode: this is not text in UTF-8"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "row 1, column episode: this is not text in UTF-8"),
    "zeros": (GOOD.replace("0.25", "\0"), "row 4, column reward: this is not text in UTF-8"),
    "long row": (GOOD.replace("0.25,a", "0.25,a,9"), "row 4, column next_state: there are more fields"),
    "long first row": (GOOD.replace("0.5,b", "0.5,b,9"), "row 2, column next_state: there are more fields"),
    "short row": (GOOD.replace("b,y,1,a", "b,y"), "row 3, column reward: it is empty"),
    "open quote": (GOOD.replace("2,0,a", '2,0,"a'), "row 4, column episode: a quotation mark is not closed"),
    "other labels": (GOOD.replace(",x,", ",X,").replace(",y,", ",Y,"), "row 2, column action: no label in this"),
    "too many labels": (
        GOOD + "".join(f"p{i},0,s{i},x,0,b\np{i},1,b,x,0,b\n" for i in range(reading.MOST_OTHERS + 1)),
        "row 2,006, column state: with this one more than 1,000 labels are not declared",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_malformed_is_refused_in_a_sentence_with_row_and_column(
    data: str | bytes, sentence: str
) -> None:
    with pytest.raises(SpecError) as error:
        count(data)
    assert error.value.field == "data"
    said = error.value.sentence
    assert said.startswith(sentence)
    assert said.endswith(".")
    assert said.isprintable()
    assert len(said) < 250


def test_what_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(tmp_path / "large.csv", "wb") as file:
        file.write(GOOD.encode())
        file.truncate(300_000_000)  # a hole: it takes no room
    with pytest.raises(SpecError, match=r"row 6, column episode: the file has 300 MB .* give at most 200 MB"):
        counted(tmp_path / "large.csv", declaration(declaration_text(PUBLIC)))
    with pytest.raises(SpecError, match=r"data: the file cannot be read \(No such file"):
        counted(tmp_path / "none.csv", declaration(declaration_text(PUBLIC)))


def test_so_many_episodes_that_sums_are_not_exact_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_EPISODES", 20)
    everyone = people(np.random.default_rng(0), 21, 2, ["a", "b", "x", "y"])
    assert count(table(everyone[:20]))[1] == 20
    with pytest.raises(
        SpecError, match="row 42, column episode: with this one there are more than 20 episodes"
    ):
        count(table(everyone))


def people(rng: np.random.Generator, number: int, H: int, labels: list[str]) -> list[list[list[str]]]:
    """Rows without episode and step of people who do whatever they like, a reward being any number."""
    found = []
    for _ in range(number):
        states = rng.choice(labels, H + 1)
        rewards = rng.choice(["0", "0.3", "1", "17", "-1e300", "1e308"], H)
        found.append([[states[h], str(rng.choice(labels)), str(rewards[h]), states[h + 1]] for h in range(H)])
    return found


def table(trajectories: list[list[list[str]]]) -> str:
    rows = [f"p{i},{h},{','.join(row)}" for i, rows in enumerate(trajectories) for h, row in enumerate(rows)]
    return HEADING + "\n".join(rows) + "\n"


def test_a_file_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    public = {"horizon": 3, "rewards": None}
    everyone = people(rng, 50, 3, ["a", "b", "x", "y"])
    whole, _ = count(table(everyone), **public)
    monkeypatch.setattr(reading, "ROWS", 7)
    pieces, n = count(table(everyone), **public)
    assert n == 50
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)
    broken = table(everyone).replace("p40,1,", "p40,2,")
    with pytest.raises(SpecError, match=f"row {40 * 3 + 3}, column step: 2 where 1 is expected"):
        count(broken, **public)
    with pytest.raises(SpecError, match="row 122, column step: episode p39 goes on beyond"):
        count(table(everyone).replace("p40,0,", "p39,3,"), **public)


def test_replacing_a_trajectory_by_any_other_moves_no_more_than_is_proved() -> None:
    """Also where what it holds is not declared or out of range; and the bound is reached."""
    H, labels = 4, ["a", "b", "mars", "-", "x", "y", "z"]
    rng = np.random.default_rng(1)
    public = {"horizon": H, "rewards": None}
    size = declaration(declaration_text(PUBLIC | public)).size
    change = DATASET.sensitivity(size, REPLACE_ONE)
    others = people(rng, 30, H, labels)
    farthest = 0.0
    for i in range(60):
        first, second = people(rng, 2, H, labels)
        at = i % 30
        one, n = count(table([*others[:at], first, *others[at:]]), **public)
        two, m = count(table([*others[:at], second, *others[at:]]), **public)
        assert n == m == 31
        moved = np.abs(one - two)
        assert moved[..., :-1].max() <= 1
        assert moved[..., :-1].sum() <= change.l1 == 4 * H
        assert (moved[..., :-1] ** 2).sum() <= change.l2_squared == 4 * H
        assert (moved[..., -1] ** 2).sum() <= REWARDS.sensitivity(size, REPLACE_ONE).l2_squared == 2 * H
        farthest = max(farthest, float(moved[..., :-1].sum()))
    assert farthest == 4 * H


def test_each_reward_is_rounded_to_the_grid_before_they_are_summed() -> None:
    """So that a sum is a whole number of steps, exactly, and one person moves it by no more than a unit of them."""
    rng = np.random.default_rng(2)
    rewards = rng.uniform(-4, 9, 500).round(3)
    text = HEADING + "".join(f"{i},0,a,x,{reward},b\n" for i, reward in enumerate(rewards))
    record, _ = count(text, horizon=1, reward_range=[-3, 7], rewards=None)
    units = [(Fraction(str(reward)) + 3) / 10 for reward in rewards]
    steps = [round(min(max(unit, Fraction(0)), Fraction(1)) * STEPS) for unit in units]
    assert Fraction(record[0, 0, 0, -1]) == Fraction(sum(steps), STEPS)
    assert 0 < len(set(steps)) - 2 < 500  # both ends are reached, and most are between
    assert max(steps) == STEPS


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"states": []}, "states"),
        ({"states": 0}, "states"),
        ({"states": MOST + 1}, "states"),
        ({"states": ["a", "a"]}, "states"),
        ({"states": ["a", " b"]}, "states"),
        ({"states": ["a", "b\n"]}, "states"),
        ({"actions": "x"}, "actions"),
        ({"actions": [1, 2]}, "actions"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": "ten"}, "horizon"),
        ({"rewards": 2}, "rewards"),
        ({"rewards": [[0, 1]]}, "rewards"),
        ({"rewards": [[0, 1], [1, float("nan")]]}, "rewards"),
        ({"rewards": "table"}, "rewards"),
        ({"reward_range": [1, 0]}, "reward_range"),
        ({"reward_range": 3}, "reward_range"),
        ({"reward_range": [-1e308, 1e308]}, "reward_range"),
        ({"start": "mars"}, "start"),
        ({"start": [1, 1]}, "start"),
        ({"colour": "red"}, ""),
    ],
)
def test_what_cannot_be_declared_is_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(SpecError) as error:
        declaration_text(PUBLIC | changes)
    assert error.value.field == f"declared.{field}".rstrip(".")
    assert str(error.value).endswith(".")
    assert str(error.value).isprintable()


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 10**5, '{"states": 2}', "{}" + " " * 3 * 10**6])
def test_what_is_no_declaration_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match=r"^declared: "):
        declaration(text)


def test_a_declaration_is_canonical() -> None:
    short = declaration(
        declaration_text(
            {"states": 2, "actions": 1, "horizon": 3, "rewards": [[1], [2]], "reward_range": [0, 2]}
        )
    )
    assert short.states == ("0", "1")
    assert short.size == Size(2, 1, 3)
    np.testing.assert_array_equal(short.start, [0.5, 0.5])
    assert short.rewards is not None
    np.testing.assert_array_equal(short.rewards[2], [[0.5], [1.0]])
    assert declaration(short.text).text == short.text
    assert json.loads(short.text)["states"] == ["0", "1"]
    np.testing.assert_array_equal(short.in_units(np.array([0.0, 3.0]), 3), [0.0, 6.0])
    at = declaration(declaration_text(PUBLIC | {"start": "b", "reward_range": [-1, 1], "rewards": -1}))
    np.testing.assert_array_equal(at.start, [0, 1])
    np.testing.assert_array_equal(at.in_units(np.array([0.0, 2.0]), 2), [-2.0, 2.0])
