"""A budget of releases: written down before anything is shown, counted once, refused beyond its total, and summed to
what the accountant proves."""

from __future__ import annotations

import hashlib
import io
import json
import math
import multiprocessing
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dprl
from dprl import Budget, SpecError, UploadSpec, upload
from dprl.__main__ import main
from dprl.privacy.accounting import epsilon_of, gaussian_delta, gaussian_epsilon, zcdp_of
from dprl.privacy.exact import Apart
from dprl.privacy.losses import Gaussian
from dprl.research import release
from dprl.simulation.uploads import kept, ledger
from dprl.simulation.uploads.ledger import Draw, together
from dprl.simulation.uploads.noise import noise_of
from dprl.simulation.uploads.run import UploadRun, draws_of
from tests.problems import python
from tests.two_rooms import EXAMPLE, example

HEADING, *ROWS = example().splitlines(keepends=True)
PEOPLE = (HEADING + "".join(ROWS[:800])).encode()
NONE = Apart(0.0, 0.0)


def given(budget: Budget | None, people: bytes = PEOPLE, **fields: Any) -> UploadSpec:
    return upload(io.BytesIO(people), EXAMPLE, budget=budget, recall=lambda said: None, **fields)


def test_a_release_is_written_down_once_and_outlives_everything() -> None:
    budget = Budget("ward 2026", rho=1)
    spec = given(budget, rho=0.25)
    assert budget.spent.rho == 0
    first = dprl.run(spec).seeds[0]
    assert budget.spent.rho == pytest.approx(0.25, rel=1e-5) == first.guarantee.proved_rho
    dprl.run(spec)
    dprl.run(spec.replace(beta=0.2))  # plans from the same noise; those held out are asked anew
    again = Budget("ward 2026")
    assert again.releases[0] == spec
    assert again.total == 1
    assert again.spent.rho == pytest.approx(0.5, rel=1e-5)
    kept.forget(spec.data)
    assert Budget("ward 2026").spent == again.spent


def test_beyond_its_total_nothing_is_drawn() -> None:
    budget = Budget("ward", rho=0.5)
    spec = given(budget, rho=0.3)
    dprl.run(spec)
    more = spec.replace(rho=0.3, beta=0.2)  # the counts are drawn already, but those held out are asked anew
    for refused in (more, spec.replace(rho=0.21)):
        files = {*kept.folder().iterdir()}
        with pytest.raises(
            SpecError, match=r"budget: ward has the total ρ = 0\.5; ρ = 0\.3 is spent, and this"
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
    full = OSError(28, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(ledger, "write_whole", lambda *given: (_ for _ in ()).throw(full))
        files = {*kept.folder().iterdir()}
        with pytest.raises(SpecError, match=r"budget: the release cannot be recorded \(No space left"):
            dprl.run(spec.replace(rho=0.2))
        assert {*kept.folder().iterdir()} == files
    assert budget.spent.rho == pytest.approx(0.1, rel=1e-5)


def charged(name: str, specs: list[UploadSpec]) -> None:
    for spec in specs:
        Budget(name, rho=3).charge(spec, draws_of(spec), "")


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
    budgets: list[dict[str, Any]] = [{"rho": 0.1}, {"rho": 1.0}, {"rho": 2.0, "beta": 0.2}]
    spec, other = given(None), given(None)
    for fields in budgets:
        asked = spec.replace(**fields)
        card, found = noise_of(asked)[0].guarantee, together(draws_of(asked))
        assert card.proved_rho == pytest.approx(found.rho, rel=2e-12)  # rounded up
        assert found.epsilon(card.proved_delta or 0.0) == pytest.approx(card.proved_epsilon, rel=1e-6)
    draws = [draw for fields in budgets for draw in draws_of(spec.replace(**fields))]
    learned, held = (
        tuple(loss for draw in draws if draw.half == half for loss in draw.losses) for half in (0, 1)
    )
    rhos = zcdp_of(learned), zcdp_of(held)
    assert None not in rhos
    all_of_it = together(draws)
    assert all_of_it.rho == pytest.approx(max(rho or 0 for rho in rhos), rel=1e-11)
    for losses in (learned, held):
        assert all_of_it.epsilon(1e-6) >= epsilon_of(losses, 1e-6)
    two = together([*draws_of(spec.replace(rho=0.1)), *draws_of(other.replace(rho=0.3))])
    assert two.rho == pytest.approx(0.4, rel=1e-5)  # two readings: other people may be held out
    assert two.epsilon(1e-6) == pytest.approx(gaussian_epsilon(math.sqrt(0.8), 1e-6), rel=1e-4)


@pytest.mark.thorough
def test_one_person_in_the_worse_half_of_each_reading_is_no_better_told_apart() -> None:
    """Whichever half they are in: what all of it proves is as much as any choice of halves does, exactly composed."""
    draws = [
        Draw("a", "one", 0, (Gaussian(0.4),), NONE),
        Draw("b", "one", 1, (Gaussian(0.1), Gaussian(0.2)), NONE),
        Draw("c", "two", 0, (Gaussian(0.2),), NONE),
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
                mu = math.sqrt(sum(loss.shift**2 for loss in losses if isinstance(loss, Gaussian)))
                assert gaussian_delta(mu, found.epsilon(delta)) <= delta * (1 + 1e-9)
    assert found.rho == pytest.approx(0.4**2 / 2 + 0.7**2 / 2)


def test_a_file_that_was_read_before_is_named_by_its_budget_and_by_a_key() -> None:
    told: list[str] = []

    def read(budget: Budget | None, people: bytes = PEOPLE) -> None:
        upload(io.BytesIO(people), EXAMPLE, budget=budget, recall=told.append)

    read(None)
    dprl.run(given(Budget("ward"), rho=0.1))
    assert told == []
    read(None)
    read(Budget("clinic"), PEOPLE + b"last,0,hall,wait,0\nlast,1,hall,wait,0\n")
    assert told == []
    for same in (PEOPLE, PEOPLE.replace(b"\n", b" \r\n"), b"\xef\xbb\xbf" + PEOPLE.rstrip() + b"\n\n"):
        read(Budget("clinic"), same)
        said = told.pop()
        assert said.startswith("This file was released before, under the budget ward (2")
        assert told == []
    files = [path.read_text() for path in ledger.folder().glob("*.json")]
    assert all(hashlib.sha256(PEOPLE).hexdigest() not in text for text in files)
    assert all("hall" not in json.loads(text)["files"] for text in files)


def test_what_is_no_budget_is_refused() -> None:
    for name in ("", " ", "x" * 61, "a\nb", None):
        with pytest.raises(SpecError, match="is not a name"):
            Budget(name)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="rho: -1"):
        Budget("ward", rho=-1)
    spec = given(Budget("ward", rho=1), rho=0.1)
    assert not Budget.known("ward")  # it is written down with its first release
    dprl.run(spec)
    with pytest.raises(SpecError, match=r"ward was declared with the total ρ = 1; give this total, or none"):
        Budget("ward", rho=2)
    assert Budget("ward").total == 1
    assert Budget("ward").left == pytest.approx(0.9, rel=1e-4)
    assert "ward" in repr(Budget("ward"))
    path = next(ledger.folder().glob("*.json"))
    path.write_text(path.read_text()[:-20])
    with pytest.raises(SpecError, match="ward is damaged, so it allows no release"):
        UploadRun(spec, 0)
    path.unlink()
    with pytest.raises(SpecError, match="the budget ward is no longer stored here"):
        UploadRun(spec.replace(rho=0.2), 0)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda content: content["releases"][1]["spec"].update(rho=0.01), "release 2 of ward"),
        (lambda content: content["releases"][0].update(draws=[]), "release 1 of ward"),
        (lambda content: content["releases"].pop(), "the list of ward"),
        (lambda content: content["releases"].pop(0), "the list of ward"),
        (lambda content: content.update(total=100.0), "the list of ward"),
        (lambda content: content.update(files={}), "the list of ward"),
        (lambda content: content.update(seal=""), "the list of ward"),
    ],
)
def test_an_edit_by_hand_is_noticed_and_nothing_more_is_released(
    change: Callable[[dict[str, Any]], object], where: str
) -> None:
    spec = given(Budget("ward", rho=1), rho=0.1)
    for rho in (0.1, 0.2):
        dprl.run(spec.replace(rho=rho))
    (path,) = ledger.folder().glob("*.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    for look in (lambda: Budget("ward"), lambda: UploadRun(spec.replace(rho=0.3), 0)):
        with pytest.raises(SpecError, match=f"budget: {where} was edited by hand, so it allows no release"):
            look()


def test_two_totals_for_one_budget_are_refused_before_anything_is_drawn() -> None:
    first, second = given(Budget("ward", rho=1), rho=0.1), given(Budget("ward", rho=2), rho=0.1)
    dprl.run(first)
    with pytest.raises(SpecError, match="ward was declared with the total ρ = 1"):
        UploadRun(second, 0)


def test_spellings_of_a_name_are_one_budget() -> None:
    dprl.run(given(Budget("Käse 2026", rho=1), rho=0.1))
    for same in ("käse 2026", " KÄSE  2026 ", unicodedata.normalize("NFD", "Käse 2026")):
        assert Budget(same).total == 1
        with pytest.raises(SpecError, match="was declared with"):
            Budget(same, rho=2)
    assert len(list(ledger.folder().glob("*.json"))) == 1


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """Of `dprl`, for a release that spends a budget."""
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    (tmp_path / "declared.json").write_text(json.dumps(EXAMPLE), encoding="utf-8")
    given = [str(tmp_path / "people.csv"), "--declaration", str(tmp_path / "declared.json"), "--rho", "1"]
    return ["release", *given, "--budget", "ward", "--out", str(tmp_path / "out")]


def test_counts_of_a_release_that_was_killed_go_at_the_next_command(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    child = os.fork()
    if child == 0:  # killed when the counts are kept, before anything is charged
        monkeypatch.setattr(release, "draws_of", lambda spec: os._exit(9))
        main(arguments)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert list(kept.folder().glob("*.npz"))
    main(["list"])
    assert not list(kept.folder().glob("*"))


def test_a_release_is_not_lost_for_want_of_a_character(arguments: list[str], tmp_path: Path) -> None:
    code = f"from dprl.__main__ import main; raise SystemExit(main({arguments}))"
    home = str(tmp_path / "home")
    done, again = (python(code, PYTHONIOENCODING="ascii:strict", DPRL_HOME=home) for _ in range(2))
    assert (done.returncode, again.returncode) == (0, 2)
    assert "Better than today" in done.stdout
    assert (tmp_path / "out" / "policy.json").exists()
    assert again.stderr.endswith("already contains a policy.json; give another folder.\n")
