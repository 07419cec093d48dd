"""Pages with a run going on: how a visitor gets there, and what a walk over them must have used."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlencode

from dprl.jobs.store import Store
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec
from pages.attack import link as attacks
from pages.free import link as free
from pages.linear.record import LINEAR
from pages.linear.view import LinearView
from pages.offline.record import OFFLINE
from pages.offline.view import OfflineView
from pages.shared.results.status import ACTIVE
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of
from pages.tradeoffs import study as studies
from tests.browser.conftest import Visits
from tests.browser.hands import Hand
from tests.browser.server import App
from tests.browser.walk import Walk

# Finished in a moment: a learner in blocks, and one in stages on the problem with a chart of its own. No more of them,
# so that there is room for the curves that a walk adds.
SHORT = RunSpec(environment_params={"S": 3, "H": 3}, epsilon=50.0, episodes=20_000, seeds=2)
FINISHED = (
    SHORT,
    RunSpec(environment="hard-jdp", algorithm="sdp-pe-relaxed", privacy="none", episodes=20_000, seeds=2),
)
# Minutes, so that they go on through any walk; one seed each, so that a worker is left for what a walk starts.
LARGE = {"S": 50, "H": 40}
LONG = RunSpec(environment_params=LARGE, privacy="none", episodes=10**6, schedule="episodic", seeds=1)
LONG_PRIVATE = RunSpec(environment_params=LARGE, epsilon=1.0, episodes=150_000, schedule="episodic", seeds=1)
# Released after each episode, so that each of its twelve parts takes seconds.
ATTACK = AttackSpec(
    run=RunSpec(environment_params={"S": 3, "H": 3}, episodes=30_000, schedule="episodic", seeds=1)
)
SWEEP = studies.SweepView(LONG_PRIVATE, models=("none", "central"), values=(1.0, 10.0))
LEARNED = OfflineSpec(environment_params={"S": 3, "H": 3}, n=10**6, seeds=2)
FEW = (LEARNED, LEARNED.twin())
# More than two walks see computed: the second goes on where the first has cancelled.
MANY = tuple(
    LEARNED.replace(environment_params=LARGE, n=10**12, seeds=100, root_seed=seed) for seed in range(3)
)
REGRESSED = RunSpec(
    environment="linear-mixture",
    environment_params={"d": 3, "S": 3, "H": 3},
    algorithm="ucrl-vtr",
    privacy="central",
    episodes=10**6,
    seeds=2,
)
BOTH = (REGRESSED, REGRESSED.twin())
SLOW = REGRESSED.replace(
    environment_params={"d": 10, "S": 12, "H": 100},
    privacy="none",
    schedule="episodic",
    episodes=50_000,
    seeds=1,
)
# Menus in the sidebar that the same code draws on every page: one entry is enough.
MENUS = ("Environment", "variant", "Algorithm", "Noise", "Bonus constants", "Policy updates", "cap")


def each(kind: str, *names: str) -> frozenset[tuple[str, str]]:
    """Controls of one kind."""
    return frozenset((kind, name) for name in names)


# Beside and behind *Share*, and on pages with settings.
SHARE = each("popover", "Share") | each("button", "Copy link", "Make a short link", "Copy short link")
SETTINGS = SHARE | each("switch", "Lock the settings")
FILES = each(
    "download", "CSV", "Parquet", "Download interactive chart"
)  # and the bundle, once all runs have ended


def compared(*specs: RunSpec) -> str:
    """The link to Explore with these runs."""
    return f"explore?{query_of(links.encode([links.Curve(spec) for spec in specs], links.View()))}"


@dataclass(frozen=True)
class Stop:
    """A page.

    Attributes:
        link: to it, or to one from which `way`, a link on every page, leads there with the same runs.
        used: kinds and names of some of what a walk over it must have used.
        first: a link whose runs are finished before.
        brief: menus of which one entry is enough.
        late: what leads to other runs, used last.
        everywhere: whether what is the same on all pages is used here, too.
    """

    link: str
    used: frozenset[tuple[str, str]] = frozenset()
    way: str = ""
    first: str = ""
    brief: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    everywhere: bool = False


STOPS = {
    "home": Stop(
        "",
        SHARE
        | each("slider", "Privacy budget (a smaller one hides more)")
        | each("download", "Download plot as a PNG", "Download as CSV")
        | each("expander", "Numbers of this chart")
        | each("link", "Open this chart on the page Online", "Use your own data", "Runs"),
        everywhere=True,
    ),
    "explore": Stop(
        compared(*FINISHED, LONG, LONG.replace(root_seed=1)),
        SETTINGS
        | FILES
        | each("tab", "Regret", "Counts", "Policy", "Guarantee", "Data")
        | each("button", "Cancel all", "Run it", "Cancel", "Run", "Reset", "Play")
        | each("button", "Hide", "Copy settings", "Remove")
        | each("choice", "Bad arms", "Stage by stage", "Privacy cost", "Suboptimal episodes")
        | each("switch", "Pause live"),
        first=compared(*FINISHED),
    ),
    "attack": Stop(
        f"attack?{urlencode(attacks.encode(ATTACK, attacks.AttackView()))}",
        SETTINGS
        | each("choice", "Attack a release", "Two users collude", "What a guarantee means")
        | each(
            "choice", "Scores", "Right against wrong", "Farthest apart", "1. One noise for all", "3. A tree"
        )
        | each("switch", "Noise half as large", "Pause live")
        | each("text", "First episode", "Second episode")
        | each("button", "Run", "Reset", "Cancel")
        | each("slider", "Believed before"),
        brief=MENUS,
    ),
    "tradeoffs": Stop(
        f"tradeoffs?{urlencode(studies.encode(SWEEP))}",
        SETTINGS
        | each("choice", "Privacy cost", "Regret", "Users needed", "Table")
        | each("button", "Run", "Reset", "Cancel"),
        brief=MENUS,
    ),
    "users": Stop(
        "users?K=1e7&loss=5",
        SHARE
        | each("text", "Users K", "States S", "Best reward V*, % of H", "Budget ε", "Loss allowed, %")
        | each("download", "Download one page for a meeting")
        | each("expander", "How this was computed", "What this rests on", "How far off this may be"),
        brief=("Environment",),
    ),
    "free": Stop(
        f"free?{query_of(free.encode(LONG_PRIVATE, free.FreeView()))}",
        SETTINGS
        | each("choice", "Privacy cost", "Regret", "Growth", "Bounds", "Calculator")
        | each("button", "Run", "Reset")
        | each("switch", "Pause live"),
        brief=MENUS,
    ),
    "offline": Stop(
        f"offline?{urlencode(OFFLINE.encode((*FEW, *MANY), OfflineView()))}",
        SETTINGS
        | FILES
        | each("tab", "Suboptimality", "Pessimism", "Policy", "Coverage", "Guarantee", "Data", "Your data")
        | each("choice", "Privacy cost in the lower bound", "Actions", "Lower bound V~")
        | each("button", "Run", "Reset", "Cancel", *(one.title for one in OFFLINE.examples))
        | each("switch", "Keep the runs shown"),
        first=f"offline?{urlencode(OFFLINE.encode(FEW, OfflineView()))}",
        brief=(*MENUS, "Behaviour policy", "Privacy budget", "Step of the episode"),
        late=tuple(one.title for one in OFFLINE.examples),
    ),
    "linear": Stop(
        f"linear?{urlencode(LINEAR.encode((*BOTH, SLOW), LinearView()))}",
        SETTINGS
        | FILES
        | each("tab", "Regret", "Exponents", "Confidence set", "Eigenvalues", "Weights", "Guarantee", "Data")
        | each("choice", "Per episode", "Cumulative", "Privacy cost", "Harder with more users")
        | each("button", "Run", "Reset", "Cancel", *(one.title for one in LINEAR.examples))
        | each("switch", "Zoom to the confidence set"),
        first=f"linear?{urlencode(LINEAR.encode(BOTH, LinearView()))}",
        brief=(*MENUS, "Horizontal axis", "Vertical axis", "Run", "Seed"),
        late=tuple(one.title for one in LINEAR.examples),
    ),
    "lessons": Stop(
        "lessons?lesson=trust&step=3",
        SHARE
        | each("button", "All lessons", "Next", "Previous", "Next lesson")
        | each("button", "Show the answer", "Hide the answer", "Present", "Leave")
        | each("slider", "Your prediction"),
    ),
    "claims": Stop(
        "claims?claim=order-of-trust",
        SHARE | each("button", "All claims", "Next", "Run again"),
        brief=("Curves of setting",),
        late=("Run again",),  # computes what the bundle asks for
    ),
    "landscape": Stop(
        "landscape?problem=linear-mixture&K=1e9",
        each("choice", "As by default", "Paper constants", "Share lost", "Regret")
        | each("download", "Download this table (CSV)", "Download all tables (CSV)")
        | each("button", "Copy link")
        | each("expander", "Proved, claimed, measured", "How this was computed"),
        brief=("Environment", "Users K", "Sort by", "Order", "Algorithm to look at closely"),
    ),
    "runs": Stop(
        compared(SHORT, LONG),
        each("button", "Show", "Cancel", "Run it", "Clear my finished runs"),
        way="Runs",
        first=compared(SHORT),
    ),
}

SHORT_WALKS = ("home", "runs")  # the others take minutes: walks.py


def walked(visit: Visits, hand: type[Hand], stop: Stop) -> Walk:
    """A walk over one page; what was left running is cancelled."""
    page = visit.window()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    walk = Walk(page, hand(page), visit.problems, visit.app.log)
    walk.brief, walk.late, walk.everywhere = stop.brief, stop.late, stop.everywhere

    def arrive() -> None:
        page.goto(f"{visit.app.url}/{stop.link}")
        if stop.way:
            walk.rest()
            page.get_by_role("link", name=stop.way, exact=True).click()
            page.get_by_role("heading", name=stop.way).wait_for()

    try:
        if stop.first:
            page.goto(f"{visit.app.url}/{stop.first}")
            walk.rest()
            page.wait_for_selector(".st-key-status_going", state="detached", timeout=60_000)
        walk.over(arrive)
    finally:
        withdraw(visit.app)
    return walk


def withdraw(app: App) -> None:
    """Cancel whatever anybody has left running."""
    store = Store(app.home / "runs.sqlite")
    with closing(sqlite3.connect(app.home / "runs.sqlite")) as file:
        waiting = [name for (name,) in file.execute("SELECT DISTINCT visitor FROM request WHERE waiting")]
    for visitor in waiting:
        for row in store.status.runs(visitor):
            if row.state in ACTIVE:
                store.requests.cancel(row.spec, visitor)
    store.close()
