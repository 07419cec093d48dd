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
SWEEP = studies.Study(LONG_PRIVATE, models=("none", "central"), values=(1.0, 10.0))
LEARNED = OfflineSpec(environment_params={"S": 3, "H": 3}, n=10**6, seeds=2)
FEW = (LEARNED, LEARNED.twin())
MANY = (LEARNED.replace(environment_params=LARGE, n=10**12, seeds=100),)
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
MENUS = (
    "Environment",
    "variant",
    "Algorithm",
    "How much noise",
    "Bonus constants",
    "Policy updates",
    "cap",
)


# Beside and behind *Share*, and on pages with settings.
SHARE = {
    ("popover", "Share"),
    ("button", "Copy link"),
    ("button", "Make a short link"),
    ("button", "Copy short link"),
}
LOCK = {("switch", "Lock the settings")}


def compared(*specs: RunSpec) -> str:
    """The link to Explore with these runs."""
    return f"explore?{query_of(links.encode([links.Curve(spec) for spec in specs], links.View()))}"


@dataclass(frozen=True)
class Stop:
    """A page. link: to it, or to one from which `way`, a link on every page, leads there with the same runs; used:
    kinds and names of some of what a walk over it must have used; first: a link whose runs are finished before; brief:
    menus of which one entry is enough; late: what leads to other runs, used last; everywhere: whether what is the same
    on all pages is used here, too."""

    link: str
    used: frozenset[tuple[str, str]] = frozenset()
    way: str = ""
    first: str = ""
    brief: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    everywhere: bool = True


STOPS = {
    "home": Stop(
        "",
        frozenset(
            {
                *SHARE,
                ("slider", "Privacy budget"),
                ("download", "Download plot as a PNG"),
                ("download", "Download as CSV"),
                ("expander", "The numbers drawn"),
                ("link", "Open this chart in Explore"),
                ("link", "Runs"),
            }
        ),
    ),
    "explore": Stop(
        compared(*FINISHED, LONG, LONG.replace(root_seed=1)),
        frozenset(
            {
                *SHARE,
                *LOCK,
                *(("tab", name) for name in ("Regret", "Counts", "Policy", "Guarantee", "Data")),
                *(("download", name) for name in ("CSV", "Parquet", "Specs", "Take it along")),
                *(("button", name) for name in ("Cancel all", "Run it", "Cancel")),
                *(("button", name) for name in ("Run", "Reset", "Play")),
                *(
                    ("button", name)
                    for name in ("Hide", "Duplicate", "Remove", "Add the same seeds without privacy")
                ),
                *(
                    ("choice", name)
                    for name in ("Bad arms", "Stage by stage", "Price of privacy", "Mistakes")
                ),
                ("switch", "Pause live"),
            }
        ),
        first=compared(*FINISHED),
        everywhere=False,
    ),
    "attack": Stop(
        f"attack?{urlencode(attacks.encode(ATTACK, attacks.AttackView()))}",
        frozenset(
            {
                *SHARE,
                *LOCK,
                *(
                    ("choice", name)
                    for name in ("Attack a release", "Two users collude", "What a promise means")
                ),
                *(("choice", name) for name in ("Scores", "Right against wrong", "Farthest apart")),
                *(("choice", name) for name in ("1. One noise for all", "3. A tree")),
                *(("switch", name) for name in ("Noise half as large", "Pause live")),
                *(("text", name) for name in ("First episode", "Second episode")),
                *(("button", name) for name in ("Run", "Reset", "Cancel")),
                ("slider", "Believed before"),
            }
        ),
        brief=MENUS,
        everywhere=False,
    ),
    "tradeoffs": Stop(
        f"tradeoffs?{urlencode(studies.encode(SWEEP))}",
        frozenset(
            {
                *SHARE,
                *LOCK,
                *(("choice", name) for name in ("Price of privacy", "Regret", "Users needed", "Table")),
                *(("button", name) for name in ("Run", "Reset", "Cancel")),
            }
        ),
        brief=MENUS,
        everywhere=False,
    ),
    "users": Stop(
        "users?K=1e7&loss=5",
        frozenset(
            {
                *SHARE,
                *(
                    ("text", name)
                    for name in ("Users K", "States S", "V*, % of H", "Budget ε", "Loss, % of V*")
                ),
                ("download", "One page for a meeting (HTML)"),
                ("expander", "What this rests on"),
                ("expander", "How far off this may be"),
            }
        ),
        brief=("Problem",),
        everywhere=False,
    ),
    "free": Stop(
        f"free?{query_of(free.encode(LONG_PRIVATE, free.FreeView()))}",
        frozenset(
            {
                *SHARE,
                *LOCK,
                *(("choice", name) for name in ("Price", "Regret", "Growth", "Theory", "Calculator")),
                ("choice", "Exploration noise"),
                *(("button", name) for name in ("Run", "Reset")),
                ("switch", "Pause live"),
            }
        ),
        brief=MENUS,
        everywhere=False,
    ),
    "offline": Stop(
        f"offline?{urlencode(OFFLINE.encode((*FEW, *MANY), OfflineView()))}",
        frozenset(
            {
                *SHARE,
                *LOCK,
                *(
                    ("tab", name)
                    for name in (
                        "Gap against n",
                        "Pessimism",
                        "Policy",
                        "Coverage",
                        "Guarantee",
                        "Data",
                        "Your data",
                    )
                ),
                *(
                    ("choice", name)
                    for name in ("Gap", "Price in the low estimate", "Actions", "Low estimate V~")
                ),
                *(("download", name) for name in ("CSV", "Parquet", "Specs", "Take it along")),
                *(
                    ("button", name)
                    for name in ("Run", "Reset", "Cancel", *(one.title for one in OFFLINE.examples))
                ),
                ("switch", "Keep what is shown"),
            }
        ),
        first=f"offline?{urlencode(OFFLINE.encode(FEW, OfflineView()))}",
        brief=(*MENUS, "Behaviour policy", "Privacy budget", "Step of the episode"),
        late=tuple(one.title for one in OFFLINE.examples),
        everywhere=False,
    ),
    "linear": Stop(
        f"linear?{urlencode(LINEAR.encode((*BOTH, SLOW), LinearView()))}",
        frozenset(
            {
                *SHARE,
                *LOCK,
                *(
                    ("tab", name)
                    for name in (
                        "Regret",
                        "Exponents",
                        "Ellipsoid",
                        "Eigenvalues",
                        "Weights",
                        "Guarantee",
                        "Data",
                    )
                ),
                *(
                    ("choice", name)
                    for name in ("Per episode", "Cumulative", "Price of privacy", "Harder with more users")
                ),
                *(("download", name) for name in ("CSV", "Parquet", "Specs", "Take it along")),
                *(("button", name) for name in ("Run", "Reset", "Cancel")),
                *(("button", one.title) for one in LINEAR.examples),
                ("switch", "Fill the chart"),
            }
        ),
        first=f"linear?{urlencode(LINEAR.encode(BOTH, LinearView()))}",
        brief=(*MENUS, "Across", "Up", "Run", "Seed"),
        late=tuple(one.title for one in LINEAR.examples),
        everywhere=False,
    ),
    "lessons": Stop(
        "lessons?lesson=trust&step=3",
        frozenset(
            {
                *SHARE,
                *(("button", name) for name in ("All lessons", "Next", "Previous", "Next lesson")),
                *(("button", name) for name in ("Show the answer", "Hide the answer", "Present", "Leave")),
                ("slider", "Your prediction"),
            }
        ),
        everywhere=False,
    ),
    "claims": Stop(
        "claims?claim=order-of-trust",
        frozenset({*(("button", name) for name in ("All claims", "Next", "Run again")), *SHARE}),
        brief=("Curves of setting",),
        everywhere=False,
    ),
    "landscape": Stop(
        "landscape?problem=linear-mixture&K=1e9",
        frozenset(
            {
                *(("choice", name) for name in ("As by default", "Paper constants", "Share lost", "Regret")),
                *(("download", name) for name in ("This table (CSV)", "All of it (CSV)")),
                ("button", "Copy link"),
                ("expander", "Proved, claimed, measured"),
                ("expander", "How this was made"),
            }
        ),
        brief=("Problem", "Users K", "Sort by", "Order", "Look closely at"),
        everywhere=False,
    ),
    "runs": Stop(
        compared(SHORT, LONG),
        frozenset(("button", name) for name in ("Show", "Cancel", "Run it", "Clear my finished runs")),
        way="Runs",
        first=compared(SHORT),
        everywhere=False,
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
