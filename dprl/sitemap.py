"""The table of the dashboard's pages, which are listed nowhere else.

Chats and courses preview a link before anybody opens it. They run no scripts, and Streamlit would send them an empty
page, so we insert the page's title and description before it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

PRODUCT = "Privacy in reinforcement learning"
SECTIONS = ("", "Explore", "Decide", "Check", "Teach")  # in the order of the navigation


@dataclass(frozen=True)
class Page:
    """One page of the dashboard."""

    path: str  # its address on the server, "" for Home
    name: str  # its name in the navigation, and its heading unless `heading` is given
    says: str  # a sentence about its content, for previews of links
    icon: str  # the Material Symbol shown on links to it
    section: str = ""  # its section in the navigation, or ""
    heading: str = ""  # the question at the top of the page, if it differs from the name
    settings: bool = False  # whether the sidebar has settings, which a link can lock
    # groups of runs requested under separate names, so that runs in Explore need not wait for them: the suffix of the
    # visitor's name, and the title on the Runs page
    groups: Mapping[str, str] = field(default_factory=dict)
    bundled: tuple[str, ...] = ()  # names of the bundled files in assets/ that it shows, without .json
    guide: str = ""  # its page in the documents, below docs/, or ""
    # the lists of terms and papers that it shows: online, offline
    lists: tuple[str, ...] = ("online",)
    aside: bool = False  # whether it opens from an icon in the corner instead of the navigation

    @property
    def folder(self) -> str:
        """Return the name of the page's folder in pages/."""
        return self.path or "home"

    @property
    def file(self) -> str:
        """Return the path of the page's script, for Streamlit."""
        return f"pages/{self.folder}/page.py"

    @property
    def whole(self) -> str:
        """Return the title for a browser's tab."""
        return PRODUCT if not self.path else f"{self.name} · {PRODUCT}"

    def of(self, what: str) -> str:
        """Return the tab's title for one item on the page, such as a lesson."""
        return f"{what} · {self.whole}"


PAGES = {
    page.path: page
    for page in (
        Page(
            "",
            "Home",
            "The cost of privacy: move epsilon, and see how many users it takes to learn.",
            "home",
            heading="What does privacy cost in reinforcement learning?",
            bundled=("home", "start"),
            guide="explanation/private-rl",
        ),
        Page(
            "explore",
            "Online",
            "Private algorithms side by side: regret, noisy counts, policies, and proved guarantees.",
            "show_chart",
            section="Explore",
            heading="How fast does a private algorithm learn?",
            settings=True,
            groups={"draft": "Drafts of Online"},
            bundled=("examples",),
            guide="tutorials/first-run",
        ),
        Page(
            "tradeoffs",
            "Trade-offs",
            "The privacy cost against epsilon, users and size, with users needed and proved bounds.",
            "balance",
            section="Explore",
            heading="How much does privacy cost?",
            settings=True,
            groups={"sweep": "Sweeps of Trade-offs"},
            bundled=("tradeoffs",),
            guide="tutorials/sweep",
        ),
        Page(
            "users",
            "Users needed",
            "Users needed by a private algorithm, and the smallest budget that your users allow.",
            "groups",
            section="Decide",
            heading="How many users do I need?",
            bundled=("users",),
            guide="how-to/size-a-study",
        ),
        Page(
            "offline",
            "Offline",
            "A policy from a private data set, and how large the data set has to be.",
            "inventory_2",
            section="Explore",
            heading="What can be learned from a private data set?",
            settings=True,
            groups={"offline": "Data sets of the Offline page"},
            bundled=("offline",),
            guide="report/offline",
            lists=("offline",),
        ),
        Page(
            "data",
            "Your data",
            "A policy learned from your own records under privacy, with a verdict.",
            "upload_file",
            section="Decide",
            heading="May a policy learned from your data be used?",
            groups={"upload": "Runs on your own data"},
            guide="how-to/bring-data",
            lists=("offline",),
        ),
        Page(
            "lessons",
            "Lessons",
            "Nine five-minute lessons: make a prediction, then see what the runs show.",
            "school",
            section="Teach",
            heading="What would you like to understand?",
            bundled=("lessons",),
            guide="how-to/teach-a-class",
        ),
        Page(
            "papers",
            "Papers",
            "Every theorem, table and figure of five papers with a computed verdict, and a ranking of all algorithms.",
            "gavel",
            section="Check",
            heading="Papers: is it still true?",
            bundled=("papers", "ranking"),
            guide="how-to/reproduce-a-claim",
            lists=("online", "offline"),
        ),
        Page(
            "attack",
            "Attack",
            "What can the best attacker find out about one user, and what do we prove?",
            "security",
            section="Check",
            heading="What can an attacker find out about one user?",
            settings=True,
            groups={"attack": "Attacks"},
            bundled=("attack",),
            guide="report/privacy",
        ),
        Page(
            "room",
            "Room",
            "A class answers by phone, without giving names, through randomised response.",
            "cast_for_education",
            section="Teach",
            heading="How does your class answer in private?",
            guide="how-to/rooms",
        ),
        Page(
            "runs",
            "Runs",
            "Your runs, in progress and finished.",
            "list",
            heading="How are your runs getting on?",
            aside=True,
        ),
    )
}
MOVED = {  # addresses of former pages, now part of others
    "free": "tradeoffs",
    "linear": "explore",
    "claims": "papers",
    "landscape": "papers",
}
GROUPS = {key: title for page in PAGES.values() for key, title in page.groups.items()}


def page_at(path: str) -> Page | None:
    """Return the page at a path of the server, or None."""
    return PAGES.get(path.rstrip("/").rpartition("/")[2])


def tagged(html: bytes, page: Page) -> bytes:
    """Add the title and the tags for a preview to Streamlit's empty page."""
    name, says = escape(page.whole), escape(page.says)
    tags = (
        f'<title>{name}</title><meta name="description" content="{says}">'
        f'<meta property="og:title" content="{name}"><meta property="og:description" content="{says}">'
        f'<meta property="og:type" content="website"><meta property="og:site_name" content="{PRODUCT}">'
        '<meta name="twitter:card" content="summary">'
    )
    return html.replace(b"<title>Streamlit</title>", tags.encode(), 1)
