"""Pages compute nothing: they read the store, and what workers say of a run without running it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dprl.links import encode_spec
from dprl.mdp import planning
from dprl.privacy import PRIVATIZERS
from dprl.runs.store import Store
from dprl.simulation import RunSpec, loops, online
from dprl.sitemap import PAGES
from pages.shared.results import answers
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView
from tests.pages.conftest import ASKED, Visit, Work, grouped, words
from tests.runs import slots
from tests.test_layers import ROOT, imported_modules

LINK = "envp.S.3~envp.H.3~K.1000~seeds.2~priv.central"

# All that pages take from the layers that compute: records, menus and limits, nothing that plans, samples or accounts.
TAKEN = {
    "dprl.research.frontiers": {
        "AXES",
        "SYMBOLS",
        "all_to_lose",
        "band_of",
        "bound_of_run",
        "frontier_of",
        "look_of",
        "looks_of",
        "proved_exponent",
    },
    "dprl.research.one_user": {
        "best_content",
        "content",
        "drawable",
    },  # of a trace that is there, or a handful of episodes
    "dprl.mdp": {"Size", "TabularMDP", "counts"},
    "dprl.environments": {"ENVIRONMENTS", "Environment"},
    "dprl.environments.custom": {"EXAMPLE", "MAX_LABEL", "parsed"},
    "dprl.simulation.structure": {"OWN"},
    "dprl.statistics": {"NOISY"},
    "dprl.privacy": {"MECHANISMS", "PRIVATIZERS", "Guarantee"},
    "dprl.privacy.privatizers": {"Privatizer"},
    "dprl.privacy.curator": {"NOISY_WAY", "PROMISES", "RAW_WAY"},
    "dprl.learners": {"ALGORITHMS", "OFFLINE"},
    "dprl.learners.tabular.planner": {"OWN"},
    "dprl.simulation": {
        "FIELDS",
        "AttackSpec",
        "OfflineSpec",
        "OfflineTrace",
        "RunSpec",
        "SeedTrace",
        "Spec",
        "UploadSpec",
        "UploadTrace",
        "answered",
        "compiles",
        "estimate",
        "following",
        "spec_from_dict",
        "trace_from_bytes",  # of the example of Your data, an asset
    },
    "dprl.rooms": {"clinic"},
    "dprl.rooms.clinic": {"world"},
    "dprl.rooms.response": {"flip", "share_of_yes"},
    "dprl.rooms.steps": {
        "TOTAL",
        "Recap",
        "budget_left",
        "DELTA",
        "EPSILON",
        "MOST_LETTERS",
        "NO",
        "YES",
        "Content",
        "ClassStep",
        "Clinic",
        "Guess",
        "Question",
        "SHOWN",
        "ShareEstimate",
        "State",
        "spends",
    },
    "dprl.users": {
        "likely_from",
        "ways",
        "BUDGETS",
        "FIELDS",
        "MODELS",
        "MOST",
        "Asked",
        "Need",
        "episodes_needed",
        "Problem",
        "Table",
        "answers",
        "beyond",
        "curve",
    },
    "dprl.messages": {"counted", "filled", "messages"},
    "dprl.messages.labels": {"called", "of_data", "phrase"},
    "dprl.simulation.replay": {"QUESTION", "unplayable"},
    "dprl.player": {"PlayedCurve", "PlayedMeasure", "Shown", "player_page", "sizes_of"},
    "dprl.papers": {"CLAIMS", "Claim", "Setting", "SpecSeries"},
    "dprl.lessons": {
        "LESSONS",
        "ORDER",
        "Attempt",
        "Choice",
        "Lesson",
        "Marker",
        "Order",
        "Prediction",
        "Step",
        "cloud",
    },
    "dprl.streamlit_patches": {"STILL"},
    "dprl.version": {"VERSION"},
    "dprl.lessons.charts": {"DrawnSeries"},
    "dprl.papers.claim": {"TRACES"},
    "dprl.papers.evidence": {"evidence", "from_dict"},
    "dprl.papers.items": {
        "ITEM_VERDICTS",
        "PAPERS",
        "Item",
        "ItemFinding",
        "all_items",
        "findings",
        "papers",
        "related",
    },
    "dprl.papers.pictures": {"curves_picture"},
    "dprl.papers.ranking": {"BUDGET", "PROBLEMS", "SEEDS", "TARGET", "Rank", "Ranking"},
    "dprl.papers.report": {"ClaimReport", "report", "version"},
    "dprl.simulation.uploads": {"kept"},
    "dprl.simulation.uploads.declaration": {
        "NAME",
        "Declaration",
        "declaration",
        "declaration_text",
    },
    "dprl.simulation.uploads.model": {"EXAMPLE", "example"},
    "dprl.simulation.uploads.ledger": {"MOST_NAME", "Budget"},
    "dprl.simulation.uploads.noise": {"outlook"},
    "dprl.simulation.uploads.policy": {"SOMEBODY"},
    "dprl.simulation.uploads.registry": {"registry_entry"},
    "dprl.simulation.uploads.run": {"draws_of"},
    "dprl.simulation.uploads.spent": {"together"},
    "dprl.simulation.uploads.table": {"COLUMNS", "MOST_BYTES"},
    "dprl.simulation.uploads.check": {"SHARE"},
    "dprl.simulation.uploads.spec": {"NOWHERE"},
    "dprl.simulation.axes": {"REPORTS", "PrivacyChoice"},
    "dprl.simulation.datasets": {"BEHAVIOURS", "split_behaviour"},
    "dprl.simulation.budgeted": {"DEFAULT_DELTA"},
    "dprl.simulation.offline_spec": {"FIELDS"},
    "dprl.simulation.trajectory": {"ALLOWED"},
    "dprl.simulation.attack": {"pairs_of"},
    "dprl.simulation.cost": {"COUNTERS", "limit"},
    "dprl.simulation.schedules": {"adaptive", "geometric"},
    "dprl.simulation.schedules.episodic": {"LIMIT"},
    "dprl.simulation.pairs": {
        "calibrations_for",
        "mechanisms_for",
        "not_counted",
        "not_played",
        "runs_in",
    },
    "dprl.simulation.spec": {"RunSpec"},
    "dprl.simulation.table": {"DEFAULT_DELTA", "FIELDS", "TIED"},
    "dprl.simulation.sweep": {"Sweep"},
    "dprl.sitemap": {"GROUPS", "MOVED", "PAGES", "SECTIONS", "Page", "RunGroup"},
}
FREE = {
    "assets",
    "fields",
    "figures",
    "links",
    "metrics",
    "runs",
    "sentences",
    "tables",
    "theory",
    "uploads",
    "words",
}
FREE_FILES = {"dprl.messages.glossary", "dprl.research.cited", "dprl.research.series", "dprl.research.sheet"}


def offences(root: Path) -> Iterator[str]:
    """A line for each import of a page that is not in TAKEN, and each use of the whole package."""
    for file in [*sorted((root / "pages").rglob("*.py")), *root.glob("app.py")]:
        for line, name in imported_modules(file, root):
            top, *rest = name.split(".")
            module, _, taken = name.rpartition(".")
            allowed = taken in TAKEN.get(module, ()) or module in FREE_FILES or (rest and rest[0] in FREE)
            if top == "dprl" and not allowed:
                yield f"{file.relative_to(root)}:{line}: {name}"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                not isinstance(node, ast.Attribute)
                or node.attr != "make"
                or "ENVIRONMENTS" not in ast.unparse(node)
            ):
                continue
            if file.relative_to(root).as_posix() not in MAKERS:
                yield f"{file.relative_to(root)}:{node.lineno}: makes an environment"


# An environment is drawn and its states named from its own public numbers.
MAKERS = {"pages/shared/results/data.py", "pages/shared/controls/panel.py"}


def test_pages_take_nothing_that_computes() -> None:
    assert list(offences(ROOT)) == []


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and everything raises that plans, calibrates or simulates."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a page computes")

    def forbid() -> None:
        for module, name in (
            (planning, "optimum"),
            (planning, "occupancy"),
            (planning, "start_value"),
            (online, "guarantee_of"),
            (loops.SeedRun, "__init__"),
            (loops.EliminationRun, "__init__"),
        ):
            monkeypatch.setattr(module, name, refuse)
        for key, privatizer in PRIVATIZERS.items():
            monkeypatch.setitem(PRIVATIZERS, key, replace(privatizer, prepare=refuse))

    return forbid


@pytest.fixture
def silent(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store, whose workers answer nothing by themselves."""
    monkeypatch.setattr(Store, "answer", ASK)
    return store


ASK = Store.answer


def test_no_page_computes(visit: Visit, work: Work, silent: Store, forbidden: Callable[[], None]) -> None:
    visit("explore", c=[LINK])
    work()
    forbidden()
    for page in PAGES.values():
        visit(page.folder)
    for tab in ("regret", "counts", "policy", "guarantee", "data"):
        visit("explore", c=[LINK], tab=tab)


def test_no_link_to_shuffled_episodes_is_calibrated_in_the_pages_process(
    visit: Visit, silent: Store, forbidden: Callable[[], None]
) -> None:
    """Each such K took a minute of the pages' process once."""
    run = RunSpec(schedule="episodic", episodes=999_997, privacy="shuffle")
    text = encode_spec(run)
    forbidden()
    study = SweepView(run, ("shuffle", "shuffle:binomial-tree:calibrated"), "episodes", (999_979, 999_983))
    queries: list[tuple[str, dict[str, Any]]] = [
        *(
            ("explore", {"c": [text], "tab": tab})
            for tab in ("regret", "counts", "policy", "guarantee", "data")
        ),
        *(
            ("tradeoffs", grouped(studies.encode(replace(study, show=show))))
            for show in ("price", "share", "users")
        ),
        ("attack", {"b": text}),
    ]
    for page, query in queries:
        visit(page, **query)


def test_a_page_is_drawn_again_until_the_answer_is_there(visit: Visit, silent: Store) -> None:
    app = visit("explore", c=[LINK], tab="guarantee")
    session = app.session_state["session"]
    assert "Working out the guarantee of this noise" in words(app)
    assert session.polling == {"results"}
    slots.work(silent, ASKED)
    app.run()
    assert "Proved as claimed" in words(app)
    assert "Working out what is proved" not in words(app)
    assert session.polling == set()


def test_what_was_just_asked_is_waited_for(
    visit: Visit, silent: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most answers take less than an eye sees: the page shows them at once instead of blinking."""
    asks: list[str] = []

    def after_a_look(self: Store, question: str, spec: Any) -> str | None:
        asks.append(question)
        if asks.count(question) == 3:
            slots.work(silent, ASKED)
        return ASK(self, question, spec)

    monkeypatch.setattr(Store, "answer", after_a_look)
    monkeypatch.setattr(answers, "PATIENCE", 60.0)
    assert "Proved as claimed" in words(visit("explore", c=[LINK], tab="guarantee"))
