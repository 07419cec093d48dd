"""A budget of releases: written down before anything is shown, counted once, refused beyond its total, and summed to
what the accountant proves."""

from __future__ import annotations

import hashlib
import io
import json
import math
import multiprocessing
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dprl
from dprl import Budget, SpecError, UploadSpec, upload
from dprl.__main__ import main
from dprl.privacy.accounting import (
    Gaussian,
    Laplace,
    Losses,
    epsilon_of,
    gaussian_delta,
    gaussian_epsilon,
    zcdp_of,
)
from dprl.privacy.exact import Apart
from dprl.research import release
from dprl.simulation.uploads import kept, ledger
from dprl.simulation.uploads.model import EXAMPLE, example
from dprl.simulation.uploads.noise import noise_of
from dprl.simulation.uploads.run import UploadRun, draws_of
from dprl.simulation.uploads.spent import Draw, together

HEADING, *ROWS = example().splitlines(keepends=True)
PEOPLE = (HEADING + "".join(ROWS[:800])).encode()
NONE = Apart(0.0, 0.0)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (kept, ledger):
        monkeypatch.setattr(module, "home", lambda: tmp_path / "home")
    return tmp_path / "home"


def given(budget: Budget | None, people: bytes = PEOPLE, **fields: Any) -> UploadSpec:
    return upload(io.BytesIO(people), EXAMPLE, budget=budget, recall=lambda said: None, **fields)


def test_a_release_is_written_down_once_and_outlives_everything() -> None:
    budget = Budget("ward 2026", rho=1)
    spec = given(budget, rho=0.25)
    assert budget.spent.rho == 0
    first = dprl.run(spec).seeds[0]
    assert budget.spent.rho == pytest.approx(0.25, rel=1e-5) == first.guarantee.proved_rho
    dprl.run(spec)
    dprl.run(
        spec.replace(algorithm="dp-plug-in", rho=0.25)
    )  # plans from the same noise; those held out are asked anew
    again = Budget("ward 2026")
    assert again.releases[0] == spec
    assert again.total == {"rho": 1}
    assert again.spent.rho == pytest.approx(0.5, rel=1e-5)
    kept.forget(spec.data)
    assert Budget("ward 2026").spent == again.spent


def test_beyond_its_total_nothing_is_drawn() -> None:
    budget = Budget("ward", rho=0.5)
    spec = given(budget, rho=0.3)
    dprl.run(spec)
    more = spec.replace(rho=0.3, beta=0.2)  # the counts are drawn already, but those held out are asked anew
    for refused in (more, spec.replace(rho=0.21), spec.replace(privacy="pure", epsilon=5.0)):
        files = {*kept.folder().iterdir()}
        with pytest.raises(
            SpecError, match=r"budget: ward has the total ρ = 0\.5; ρ = 0\.3 is spent, and with this"
        ):
            dprl.run(refused)
        assert {*kept.folder().iterdir()} == files
        assert budget.refusal(draws_of(refused))
    assert budget.refusal(draws_of(spec)) == ""
    dprl.run(spec.replace(rho=0.2))
    assert budget.spent.rho == pytest.approx(0.5, rel=1e-5)


def test_what_was_written_down_and_never_drawn_counts_and_is_drawn_when_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker is killed between the two; and the other way round, nothing can be drawn before it is written down."""
    budget = Budget("ward")
    spec = given(budget, rho=0.1)
    with monkeypatch.context() as patch:
        patch.setattr(kept, "write_down", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            dprl.run(spec)
    assert budget.spent.rho == pytest.approx(0.1, rel=1e-5)
    dprl.run(spec)
    assert budget.spent.rho == pytest.approx(0.1, rel=1e-5)
    with monkeypatch.context() as patch:
        patch.setattr(
            ledger, "_write", lambda *given: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        files = {*kept.folder().iterdir()}
        with pytest.raises(SpecError, match=r"budget: it cannot be written down here \(No space left"):
            dprl.run(spec.replace(rho=0.2))
        assert {*kept.folder().iterdir()} == files
    assert budget.spent.rho == pytest.approx(0.1, rel=1e-5)


def charged(name: str, specs: list[UploadSpec]) -> None:
    for spec in specs:
        Budget(name).charge(spec, draws_of(spec))


def test_workers_at_once_lose_and_double_nothing(home: Path) -> None:
    budget = Budget("ward", rho=3)
    spec = given(budget)
    specs = [spec.replace(rho=round(0.01 * (i + 1), 2)) for i in range(12)]
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=charged, args=("ward", specs[i % 3 :])) for i in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert budget.spent.rho == pytest.approx(0.78, rel=1e-4)
    assert len(budget.releases) == 12
    assert (home / "budgets").stat().st_mode & 0o077 == 0


def test_the_sum_is_what_the_accountant_proves() -> None:
    """Of one release: its card's number. Of several: that of all losses at once, in the worse half."""
    budgets: list[dict[str, Any]] = [
        {"rho": 0.1},
        {"privacy": "pure", "epsilon": 1.0},
        {"privacy": "approximate", "epsilon": 1.0},
        {"rho": 2.0, "algorithm": "dp-apvi"},
    ]
    spec, other = given(None), given(None)
    for fields in budgets:
        asked = spec.replace(**fields)
        card, found = noise_of(asked)[0].guarantee, together(draws_of(asked))
        assert card.proved_rho == pytest.approx(found.rho, rel=2e-12)  # rounded up
        if fields.get("privacy") == "pure":
            assert found.pure == pytest.approx(card.proved_epsilon, rel=1e-12) == pytest.approx(1)
            assert found.text == "ε = 1"
        else:
            assert math.isinf(found.pure)
            assert card.proved_epsilon is not None
            assert card.proved_delta is not None
            assert found.epsilon(card.proved_delta) == pytest.approx(card.proved_epsilon, rel=1e-6)
    draws = [draw for fields in budgets for draw in draws_of(spec.replace(**fields))]
    learned, held = (
        tuple(loss for draw in draws if draw.half == half for loss in draw.losses) for half in (0, 1)
    )
    rhos = zcdp_of(learned), zcdp_of(held)
    assert None not in rhos
    all_of_it = together(draws)
    assert all_of_it.rho == pytest.approx(max(rho or 0 for rho in rhos), rel=1e-11)
    gaussian = together(draw for draw in draws if not isinstance(draw.losses[0], Laplace))
    for half in (0, 1):
        losses = tuple(loss for loss in (learned, held)[half] if isinstance(loss, Gaussian))
        assert gaussian.epsilon(1e-6) >= epsilon_of(losses, 1e-6)
    two = together([*draws_of(spec.replace(rho=0.1)), *draws_of(other.replace(rho=0.3))])
    assert two.rho == pytest.approx(0.4, rel=1e-5)  # two readings: other people may be held out
    assert two.epsilon(1e-6) == pytest.approx(gaussian_epsilon(math.sqrt(0.8), 1e-6), rel=1e-4)


def delta_of_both(losses: Losses, epsilon: float) -> float:
    """The delta of Gaussian noise and Laplace noise together, by the law of the latter's loss, numerically."""
    mu = math.sqrt(sum(loss.shift**2 for loss in losses if isinstance(loss, Gaussian)))
    q = (np.arange(2000) + 0.5) / 2000
    x = np.where(q < 0.5, np.log(2 * q), -np.log(2 * (1 - q)))
    lost = np.zeros(1)
    for loss in (loss for loss in losses if isinstance(loss, Laplace)):
        for _ in range(loss.count):
            one = np.abs(x - loss.shift) - np.abs(x)  # from shift, where it is likely, to -shift
            values, times = np.unique(np.round((lost[:, None] + one[None]).ravel(), 3), return_counts=True)
            lost = np.repeat(values, np.maximum(times * 2000 // times.sum(), 1))
    if mu == 0:
        return float(np.maximum(1 - np.exp(epsilon - lost), 0).mean())
    return float(np.mean([gaussian_delta(mu, epsilon - each) for each in lost]))


@pytest.mark.thorough
def test_one_person_in_the_worse_half_of_each_reading_is_no_better_told_apart() -> None:
    """Whichever half they are in: what all of it proves is as much as any choice of halves does, exactly composed."""
    draws = [
        Draw("a", "one", 0, (Gaussian(0.4),), NONE),
        Draw("b", "one", 1, (Gaussian(0.1), Gaussian(0.2)), NONE),
        Draw("c", "two", 0, (Laplace(3, 0.2),), NONE),
        Draw("d", "two", 1, (Gaussian(0.7),), NONE),
        Draw("d", "two", 1, (Gaussian(0.7),), NONE),
    ]
    found = together(draws)
    for first in (0, 1):
        for second in (0, 1):
            chosen = {"one": first, "two": second}
            once = {draw.key: draw for draw in draws if draw.half == chosen[draw.read]}.values()
            losses = tuple(loss for draw in once for loss in draw.losses)
            rho = zcdp_of(losses)
            assert rho is not None
            assert rho <= found.rho
            for delta in (1e-3, 1e-6, 1e-9):
                assert delta_of_both(losses, found.epsilon(delta)) <= delta
    assert found.rho == pytest.approx(0.4**2 / 2 + 0.7**2 / 2)
    pure = together([draws[2], Draw("e", "two", 0, (Laplace(1, 0.5),), NONE)])
    assert pure.pure == pytest.approx(1.1)
    assert pure.epsilon(1e-6) <= 1.1


def test_a_total_in_epsilon() -> None:
    pure = Budget("pure", epsilon=2)
    spec = given(pure, privacy="pure", epsilon=1.5)
    assert pure.refusal(draws_of(spec)) == ""
    assert "no pure epsilon" in pure.refusal(draws_of(spec.replace(privacy="zcdp", rho=0.001)))
    pure.charge(spec, draws_of(spec))
    assert "ε = 1.5 is spent, and with this release it would be ε = 2.1" in pure.refusal(
        draws_of(spec.replace(epsilon=0.6))
    )
    both = Budget("approximate", epsilon=1, delta=1e-6)
    assert both.refusal(draws_of(spec.replace(privacy="approximate", epsilon=1.0))) == ""
    assert both.refusal(draws_of(spec.replace(privacy="zcdp", rho=0.5)))


def test_a_file_that_was_read_before_is_named_by_its_budget_and_by_a_key() -> None:
    told: list[str] = []

    def read(budget: Budget | None, people: bytes = PEOPLE) -> None:
        upload(io.BytesIO(people), EXAMPLE, budget=budget, recall=told.append)

    read(None)
    read(Budget("ward"))
    assert told == []
    read(None)
    read(Budget("clinic"), PEOPLE + b"last,0,hall,wait,0\nlast,1,hall,wait,0\n")
    assert told == []
    read(Budget("clinic"))
    (said,) = told
    assert said.startswith("This file was read before under the budget ward (2")
    files = [path.read_text() for path in ledger.folder().glob("*.json")]
    assert all(hashlib.sha256(PEOPLE).hexdigest() not in text for text in files)
    assert all("hall" not in json.loads(text)["files"] for text in files)


def test_what_is_no_budget_is_refused() -> None:
    for name in ("", " ", "x" * 61, "a\nb", None):
        with pytest.raises(SpecError, match="is no name"):
            Budget(name)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="a total is rho, or epsilon"):
        Budget("ward", rho=1, epsilon=1)
    with pytest.raises(SpecError, match="rho: -1"):
        Budget("ward", rho=-1)
    Budget("ward", rho=1)
    with pytest.raises(SpecError, match=r"ward was declared with the total ρ = 1; leave the total out"):
        Budget("ward", rho=2)
    assert Budget("ward").total == {"rho": 1}
    assert "ward" in repr(Budget("ward"))
    spec = given(Budget("ward"), rho=0.1)
    path = next(ledger.folder().glob("*.json"))
    path.write_text(path.read_text()[:-20])
    with pytest.raises(SpecError, match="ward is damaged, so nothing is released"):
        UploadRun(spec, 0)
    path.unlink()
    with pytest.raises(SpecError, match="ward is no longer kept here"):
        UploadRun(spec, 0)


def test_spellings_of_a_name_are_one_budget() -> None:
    """Before, two spellings had two totals."""
    Budget("Käse 2026", rho=1)
    for same in ("käse 2026", " KÄSE  2026 ", unicodedata.normalize("NFD", "Käse 2026")):
        assert Budget(same).total == {"rho": 1}
        with pytest.raises(SpecError, match="was declared with"):
            Budget(same, rho=2)
    assert len(list(ledger.folder().glob("*.json"))) == 1


def test_check_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    (tmp_path / "declared.json").write_text(json.dumps(EXAMPLE), encoding="utf-8-sig")
    given = [str(tmp_path / "people.csv"), "--declaration", str(tmp_path / "declared.json")]
    before = sorted(tmp_path.rglob("*"))
    assert main(["check", *given]) == 0
    assert sorted(tmp_path.rglob("*")) == before
    assert "Nothing was released or kept." in capsys.readouterr().out


def test_counts_of_a_release_that_was_killed_go_at_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    (tmp_path / "declared.json").write_text(json.dumps(EXAMPLE), encoding="utf-8")
    given = [str(tmp_path / "people.csv"), "--declaration", str(tmp_path / "declared.json"), "--rho", "1"]
    child = os.fork()
    if child == 0:  # killed when the counts are kept, before anything is charged
        monkeypatch.setattr(release, "draws_of", lambda spec: os._exit(9))
        main(["release", *given, "--ledger", "ward", "--out", str(tmp_path / "out")])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert list(kept.folder().glob("*.npz"))
    main(["list"])
    assert not list(kept.folder().glob("*"))


def test_a_release_is_not_lost_for_want_of_a_character(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    (tmp_path / "declared.json").write_text(json.dumps(EXAMPLE), encoding="utf-8")
    command = [
        sys.executable, "-m", "dprl", "release", "people.csv", "--declaration", "declared.json", "--rho", "1",
        "--ledger", "ward", "--out", "out",
    ]  # fmt: skip
    environment = os.environ | {"PYTHONIOENCODING": "ascii:strict", "DPRL_HOME": str(tmp_path / "home")}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "Better than today" in done.stdout
    assert (tmp_path / "out" / "policy.json").exists()
    again = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "dprl: out: out has a policy.json already; give another folder." in again.stderr
