"""One person's rows never change how another person's rows are read, whatever stands in them, in any kind of file."""

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
from dprl.metrics.attack import surely
from dprl.privacy.exact import EXACT, STEPS
from dprl.simulation.uploads import table as tables
from dprl.simulation.uploads.declaration import Declaration, declaration, declaration_text
from dprl.simulation.uploads.ledger import together
from dprl.simulation.uploads.noise import noise_of
from dprl.simulation.uploads.prepare import Counted, counted
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.spec import NOWHERE, UploadSpec
from dprl.statistics import TRANSITIONS
from tests.problems import few

Rows = list[list[Any]]
HEADING = ["who", "step", "room", "dose", "gain"]
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
    csv.writer(text).writerows([HEADING, *rows])
    return io.BytesIO(text.getvalue().encode())


def as_frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=HEADING)


def as_parquet(rows: Rows) -> io.BytesIO:
    """Raises pa.ArrowException if a column has values of several types, of which there is no such file."""
    file = io.BytesIO()
    columns = list(zip(*rows, strict=True))
    table = pa.table({name: pa.array(column) for name, column in zip(HEADING, columns, strict=True)})
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
