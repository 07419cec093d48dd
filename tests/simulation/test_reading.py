"""A file of trajectories is counted as it is written, refused in a sentence that names row and column, and clipped in
silence; and whatever stands in one person's rows, the counts move by no more than is proved."""

from __future__ import annotations

import io
import json
import re
import unicodedata
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
from dprl.simulation.uploads import prepare
from dprl.simulation.uploads import table as tables
from dprl.simulation.uploads.declaration import MOST, declaration, declaration_text
from dprl.simulation.uploads.prepare import Counted, counted
from tests.problems import refused

HEADING = "episode,step,state,action,reward\n"
GOOD = HEADING + "1,0,a,x,0.5\n1,1,b,y,1\n2,0,a,x,0.25\n2,1,a,y,1\n"
PUBLIC: dict[str, Any] = {"states": ["a", "b"], "actions": ["x", "y"], "horizon": 2, "rewards": 0.5}


def read(text: str | bytes, **changes: Any) -> Counted:
    data = text.encode() if isinstance(text, str) else text
    return counted(io.BytesIO(data), declaration(declaration_text(PUBLIC | changes)))


def count(text: str | bytes, **changes: Any) -> tuple[Array, int]:
    return read(text, **changes)[:2]


def told(text: str, **changes: Any) -> list[str]:
    """What the owner is shown of a file."""
    return read(text, **changes).outside.sentences()


def test_each_row_is_counted_where_it_belongs() -> None:
    record, n = count(GOOD)
    assert n == 2
    assert record.shape == (2, 2, 2, 4)
    np.testing.assert_array_equal(record[0, 0, 0], [1, 1, 2, 0.75])  # to a, to b, n, r
    # nothing follows: the last state, which has no value
    np.testing.assert_array_equal(record[1, 1, 1], [0, 1, 1, 1])
    np.testing.assert_array_equal(record[1, 0, 1], [0, 1, 1, 1])
    assert record[..., -2].sum() == 4


@pytest.mark.parametrize(
    "same",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),  # as Excel saves it
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.replace("1,0,a", ' 1 ,"0", a').encode(),
        lambda text: text.replace(",1,", ",2,").replace(",0,", ",1,").encode(),  # steps from 1
        lambda text: "\n".join(",".join([*line.split(",")[::-1], "more"]) for line in text.split()).encode(),
        lambda text: ("sep=,\n" + text).encode(),
        lambda text: (text + "\n\n").encode(),
        lambda text: (text + ",,,,\n ,,,,\n\x1a").encode(),
        lambda text: text.strip().encode(),
        lambda text: "\n".join([line + "," for line in text.split()]).encode(),
        lambda text: "\n".join([text.split()[0], *text.split()[:0:-1]]).encode(),  # in another order
    ],
)
def test_ways_to_write_the_same(same: Callable[[str], bytes]) -> None:
    good = HEADING + "1,0,a,x,0\n1,1,b,y,0\n2,0,b,x,1\n2,1,b,y,0\n"
    np.testing.assert_array_equal(count(same(good))[0], count(good)[0])


def test_the_forms_of_unicode_are_one_name() -> None:
    """A label and a heading, decomposed in the file and composed in the declaration, or the other way."""
    good = HEADING + "1,0,å,x,0\n1,1,b,y,0\n2,0,b,x,1\n2,1,b,y,0\n"
    forms = [unicodedata.normalize(form, good.replace("reward", "poäng")) for form in ("NFC", "NFD")]
    names = [unicodedata.normalize(form, "poäng") for form in ("NFC", "NFD")]
    labels = [unicodedata.normalize(form, "å") for form in ("NFC", "NFD")]
    assert forms[0] != forms[1]
    expected = count(good.replace("å", "a"))[0]
    for text in forms:
        for label, name in zip(labels, names, strict=True):
            declared = {"states": [label, "b"], "columns": {"reward": name}}
            np.testing.assert_array_equal(count(text, **declared)[0], expected)


def test_what_is_not_declared_is_clipped_in_silence() -> None:
    strange = (
        GOOD.replace("0.5", "7").replace("0.25", "-3").replace(",a,", ",mars,").replace("1,b,y", "1,a,y")
    )
    record, n = count(strange)
    clean = GOOD.replace("0.5", "1").replace("0.25", "0").replace(",a,", ",b,").replace("1,1,b,y", "1,1,a,y")
    np.testing.assert_array_equal(record, count(clean)[0])
    assert n == 2
    record, _ = count(GOOD, reward_range=[-1, 3], rewards=2)
    assert record[0, 0, 0, -1] == (1.5 + 1.25) / 4


def test_the_owner_is_told_what_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(GOOD) == []
    strange = GOOD.replace("0.5", "7").replace("0.25", "-3").replace("1,1,b,y,1", "1,1,b,Y,1")
    said = [
        "In 1 of 4 rows, column action has a label that you did not declare: Y (1). Each such label counts as y, the "
        "last declared label.",
        "In 2 of 4 rows, column reward is outside the declared range 0 to 1; the file has -3 to 7. Each such value "
        "counts as the nearest limit.",
    ]
    assert told(strange) == said
    monkeypatch.setattr(tables, "ROWS", 2)  # in pieces
    assert told(strange) == said
    many = GOOD + "".join(f"p{i},0,s{i % 7},x,0\np{i},1,b,x,0\n" for i in range(13))
    assert told(many) == [
        "In 13 of 30 rows, column state has labels that you did not declare: s0 (2), s1 (2), s2 (2), s3 (2), s4 (2) "
        "and 2 other labels. Each such label counts as b, the last declared label."
    ]


def test_many_undeclared_labels_need_consent() -> None:
    """Half of the rows say "A", which is not the declared "a"."""
    rows = "".join(f"{i},0,{'aA'[i % 2]},x,0\n{i},1,b,x,0\n" for i in range(20))
    assert read(HEADING + rows).outside.refusal() == (
        "In 25% of the rows, column state has a label that is not declared, such as A. Declare these labels, or "
        "accept them with accept_undeclared (--accept-undeclared). Each then counts as b."
    )
    few = HEADING + rows.replace(",A,", ",a,").replace("7,0,a", "7,0,A")
    assert read(few).outside.refusal() == ""


def test_steps_beyond_the_horizon_do_not_count() -> None:
    longer = GOOD.replace("2,0,a", "1,2,b,y,1\n1,3,b,y,1\n2,0,a")
    np.testing.assert_array_equal(count(longer)[0], count(GOOD)[0])
    assert told(longer) == [
        "1 of 2 episodes have more than 2 steps. Only the first 2 steps of each episode count."
    ]
    with pytest.raises(SpecError, match="row 4, column step: step 0 of episode 3 is missing"):
        count(GOOD.replace("2,0,a", "3,5,a,x,0\n2,0,a"))


def test_whole_numbers_may_be_written_with_a_point() -> None:
    """As spreadsheets and pandas write a column of numbers in which a cell is empty."""
    numbers = {"states": 2, "actions": 2}
    plain = HEADING + "1,0,0,1,0.5\n1,1,1,0,1\n2,0,0,1,0.25\n2,1,0,1,1\n"
    pointed = HEADING + "1,0.0,0.0,1.0,0.5\n1,1.0,1,0.0,1\n2,0,0.0,1.00,0.25\n2,1.0,0.0,1.0,1\n"
    np.testing.assert_array_equal(count(pointed, **numbers)[0], count(plain, **numbers)[0])
    assert told(pointed, **numbers) == []
    versions = {"actions": ["x1.0", "1.0", "y"]}  # labels that are declared as they stand, or are no numbers
    dotted = GOOD.replace(",x,", ",x1.0,").replace("b,y,", "b,1.0,")
    assert told(dotted, **versions) == []
    assert count(dotted, **versions)[0][..., -2].sum((0, 1)).tolist() == [2, 1, 1]


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "row 1, column episode: the file is empty"),
    "heading only": (HEADING, "row 2, column episode: there are no trajectories"),
    "missing column": (
        GOOD.replace("reward", "prize"),
        "row 1, column reward: this column is missing. The file has episode, step, state, action, prize.",
    ),
    "column twice": (GOOD.replace("reward", "reward,state"), "row 1, column state: this column appears twice"),
    "no heading": (GOOD.removeprefix(HEADING), "row 1, column episode: this column is missing"),
    "semicolons": (GOOD.replace(",", ";"), "row 1, column episode: columns are separated by semicolons"),
    "tabs": (GOOD.replace(",", "\t"), "row 1, column episode: columns are separated by tabs"),
    "gap": (GOOD.replace("1,0,a", "1,5,a"), "row 3, column step: step 0 of episode 1 is missing"),
    "no step": (GOOD.replace("1,1,b", "1,first,b"), "row 3, column step: first is not a step"),
    "short": (GOOD.replace("1,1,b,y,1\n", ""), "row 2, column step: episode 1 ends after 1 of 2"),
    "cut off": (GOOD[: GOOD.rindex("2,1")], "row 4, column step: episode 2 ends after 1 of 2 steps"),
    "twice": (GOOD + "1,0,a,x,0\n", "row 6, column step: step 0 of episode 1 is in row 2 already"),
    "NaN": (GOOD.replace("0.25", "NaN"), "row 4, column reward: NaN is not a finite number"),
    "infinite": (GOOD.replace("0.25", "-inf"), "row 4, column reward: -inf is not a finite number"),
    "word": (GOOD.replace("0.25", "good"), "row 4, column reward: good is not a finite number"),
    "underscore": (GOOD.replace("0.25", "1_0"), "row 4, column reward: 1_0 is not a finite number"),
    "empty cell": (GOOD.replace("0.25", ""), "row 4, column reward: this cell is empty"),
    "empty label": (GOOD.replace(",x,0.5", ",,0.5"), "row 2, column action: this cell is empty"),
    "blank line": (GOOD.replace("2,0", "\n2,0"), "row 4, column episode: this cell is empty"),
    "formula": (GOOD.replace("x,0.5", '"=cmd|x",0.5'), "row 2, column action: =cmd|x would be read as a formula"),
    "latin-1": (GOOD.replace("a,y", "ä,y").encode("latin-1"), "row 5 is not text in UTF-8 (byte 0xe4)"),
    "utf-16": (GOOD.encode("utf-16"), "the file is UTF-16; save it as CSV in UTF-8."),
    "utf-16 without a mark": (GOOD.encode("utf-16-le"), "the file is UTF-16; save it as CSV in UTF-8."),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "the file is not text"),
    "zeros": (GOOD.replace("0.25", "\0"), "the file is not text"),
    "gzip": (b"\x1f\x8b\x08" + bytes(20), "this is a gzip file; unpack it first"),
    "xlsx": (b"PK\x03\x04" + bytes(20), "this is a zip or Excel (xlsx) file"),
    "parquet": (b"PAR1" + bytes(20), "this Parquet file is damaged or cut off"),
    "long row": (GOOD.replace("0.25", "0.25,9"), "row 4, column reward: this row has too many fields"),
    "long first row": (GOOD.replace("0.5", "0.5,9"), "row 2, column reward: this row has too many fields"),
    "short row": (GOOD.replace("b,y,1", "b,y"), "row 3, column reward: this cell is empty"),
    "open quote": (GOOD.replace("2,0,a", '2,0,"a'), "row 4, column episode: a quotation mark is not closed"),
    "line break": (GOOD.replace("2,0,a", '2,0,"a\nb"'), "row 4, column episode: a quotation mark is not"),
    "heading over two lines": (GOOD.replace("step", '"st\nep"'), "row 1, column episode: a quotation mark"),
    "other labels": (
        GOOD.replace(",x,", ",X,").replace(",y,", ",Y,"),
        "row 2, column action: none of the labels in this column is declared. The declared ones are x, y; the file has "
        "X, Y.",
    ),
    "one person": (GOOD.replace("2,0", "1,2").replace("2,1", "1,3"), "row 2, column episode: the file has only one"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_malformed_is_refused_in_a_sentence_with_row_and_column(
    data: str | bytes, sentence: str
) -> None:
    with refused(f"data: {sentence}") as error:
        count(data)
    assert len(error.value.sentence) < 250


def test_what_is_too_large_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "large.csv", "wb") as file:
        file.write(GOOD.encode())
        file.truncate(300_000_000)  # a hole: it takes no room
    with pytest.raises(SpecError, match=r"the file has 300 MB; give at most 200 MB"):
        counted(tmp_path / "large.csv", declaration(declaration_text(PUBLIC)))
    with pytest.raises(SpecError, match=r"data: the file cannot be read \(No such file"):
        counted(tmp_path / "none.csv", declaration(declaration_text(PUBLIC)))


def test_so_many_episodes_that_sums_are_not_exact_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "MOST_EPISODES", 20)
    everyone = people(21, 2)
    assert count(HEADING + "".join(everyone[:20]))[1] == 20
    with pytest.raises(SpecError, match="there are more than 20 episodes; give fewer"):
        count(HEADING + "".join(everyone))


def people(number: int, H: int) -> list[str]:
    """The rows of each, who does whatever they like; a reward is any number."""
    rng, labels, numbers = np.random.default_rng(0), [*"abxy"], ["0", "0.3", "1", "17", "-1e300", "1e308"]
    steps = (
        (i, h, *(rng.choice(some) for some in (labels, labels, numbers)))
        for i in range(number)
        for h in range(H)
    )
    rows = ["p{},{},{},{},{}\n".format(*step) for step in steps]
    return ["".join(rows[i : i + H]) for i in range(0, len(rows), H)]


def test_a_file_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    public = {"horizon": 3, "rewards": None}
    everyone = HEADING + "".join(people(50, 3))
    whole, _ = count(everyone, **public)
    monkeypatch.setattr(prepare, "ROWS", 7)
    monkeypatch.setattr(tables, "ROWS", 8)
    pieces, n = count(everyone, **public)
    assert n == 50
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)
    with pytest.raises(SpecError, match=f"row {40 * 3 + 3}, column reward: this cell is empty"):
        count(re.sub("(p40,1,.*,).*", r"\1", everyone), **public)
    with pytest.raises(SpecError, match=f"row {40 * 3 + 3}, column episode: a quotation mark is not closed"):
        count(everyone.replace("p40,1,", '"p40,1,').replace("p47,1,", 'p47",1,'), **public)


def test_each_reward_is_rounded_to_the_grid_before_they_are_summed() -> None:
    """So that a sum is a whole number of steps, exactly, and one person moves it by no more than a unit of them."""
    rng = np.random.default_rng(2)
    rewards = rng.uniform(-4, 9, 500).round(3)
    text = HEADING + "".join(f"{i},0,a,x,{reward}\n" for i, reward in enumerate(rewards))
    record, _ = count(text, horizon=1, reward_range=[-3, 7], rewards=None)
    units = [(Fraction(str(reward)) + 3) / 10 for reward in rewards]
    steps = [round(min(max(unit, Fraction(0)), Fraction(1)) * STEPS) for unit in units]
    assert Fraction(record[0, 0, 0, -1]) == Fraction(sum(steps), STEPS)
    assert 0 < len(set(steps)) - 2 < 500  # both ends are reached, and most are between
    assert max(steps) == STEPS


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"states": []}, "states"),
        ({"states": MOST + 1}, "states"),
        ({"states": ["a", "a"]}, "states"),
        ({"states": ["a", "b\nc"]}, "states"),
        ({"states": ["\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}"]}, "states"),
        ({"actions": [1, 2]}, "actions"),
        ({"horizon": 0}, "horizon"),
        ({"rewards": 2}, "rewards"),
        ({"rewards": [[0, 1], [1, float("nan")]]}, "rewards"),
        ({"rewards": "table"}, "rewards"),
        ({"rewards": 10**400}, "rewards"),
        ({"reward_range": [1, 0]}, "reward_range"),
        ({"reward_range": [-1e308, 1e308]}, "reward_range"),
        ({"start": "mars"}, "start"),
        ({"start": [1, 1]}, "start"),
        ({"states": {}}, "states"),
        ({"states": {" ": [1]}}, "states"),
        ({"states": {" age": [1], "age ": [2]}}, "states"),
        ({"states": {"age": []}}, "states.age"),
        ({"states": {"age": [2, 1]}}, "states.age"),
        ({"states": {"age": [1, "a"]}}, "states.age"),
        ({"states": {"age": [10**400]}}, "states.age"),
        ({"states": {f"c{i}": ["a", "b"] for i in range(20)}}, "states"),
        ({"absorbing": 3}, "absorbing"),
        ({"states": ["a", "b"], "absorbing": "c"}, "absorbing"),
        ({"columns": {"next_state": "x"}}, "columns"),
        ({"columns": {"episode": "x", "step": "x"}}, "columns"),
        ({"columns": ["patient"]}, "columns"),
        ({"columns": {"episode": ""}}, "columns"),
        ({"states": {"age": [1]}, "columns": {"state": "ward"}}, "columns"),
        ({"episodes": 0}, "episodes: 0 is not allowed; give a whole number from 1 to 1000."),
        ({"episodes": True}, "episodes: True is not allowed"),
        ({"episodes": 3}, "episodes: 3 episodes per user need a column that identifies the user"),
        ({"colour": "red"}, ""),
    ],
)
def test_what_cannot_be_declared_is_refused(changes: dict[str, Any], said: str) -> None:
    with refused(f"declared.{said}".rstrip(".") + (": " if ": " not in said else "")):
        declaration_text(PUBLIC | changes)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 10**5, '{"states": 2}', "{}" + " " * 3 * 10**6])
def test_what_is_no_declaration_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match=r"^declared: "):
        declaration(text)


def test_a_declaration_is_canonical() -> None:
    public = {"states": 2, "actions": 1, "horizon": 3, "rewards": [[1], [2]], "reward_range": [0, 2]}
    short = declaration(declaration_text(public))
    assert short.states == ("0", "1")
    assert short.size == Size(2, 1, 3)
    assert short.start is None
    assert short.rewards is not None
    np.testing.assert_array_equal(short.rewards[2], [[0.5], [1.0]])
    assert declaration(short.text).text == short.text
    assert json.loads(short.text)["states"] == ["0", "1"]
    np.testing.assert_array_equal(short.in_units(np.array([0.0, 3.0]), 3), [0.0, 6.0])
    at = declaration(declaration_text(PUBLIC | {"start": "b", "reward_range": [-1, 1], "rewards": -1}))
    np.testing.assert_array_equal(at.start, [0, 1])
    np.testing.assert_array_equal(at.in_units(np.array([0.0, 2.0]), 2), [-2.0, 2.0])
