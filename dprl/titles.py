"""What each page is called, and what a preview says of a link to it, in a chat or a course, before anybody opens it.

A preview is made by programs that run no script, and all that a Streamlit server sends them is one empty page. So the
words are put into that page as it is sent. They are of the page, not of what a link says: to know that, the link would
have to be followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

PRODUCT = "Privacy in reinforcement learning"


@dataclass(frozen=True)
class Title:
    """Of a page: its name, and what is to be found there."""

    name: str
    says: str

    @property
    def whole(self) -> str:
        """As a browser's tab shows it."""
        return PRODUCT if self.name == "Home" else f"{self.name} · {PRODUCT}"

    def of(self, what: str) -> str:
        """The same of one thing among those on the page."""
        return f"{what} · {self.whole}"


# By path.
TITLES = {
    "": Title("Home", "What privacy costs a learner: move epsilon, and see how many users learning takes."),
    "explore": Title("Explore", "Private learners side by side: regret, noisy counts, policies, and what is proved."),
    "tradeoffs": Title("Trade-offs", "The price of privacy against epsilon, users and size, and users needed."),
    "users": Title("Users needed", "How many users a private learner takes, and at which budget they are enough."),
    "free": Title("When is privacy free?", "Regret to 10^15 users beside what is proved of it."),
    "offline": Title("Offline", "A policy from a private data set, and how large that has to be."),
    "linear": Title("Linear", "Private learners that know features, and how fast their regret grows."),
    "lessons": Title("Lessons", "Eight lessons of five minutes: predict on the chart, then see what runs say."),
    "claims": Title("Claims", "Eleven claims of the papers put to the test, with computed verdicts."),
    "landscape": Title("Landscape", "Every private learner at one proved guarantee: regret, users needed, bound."),
    "attack": Title("Attack", "What the best attacker finds out about one user, beside what is proved."),
    "room": Title("Room", "A class answers by phone, without a name, through randomised response."),
    "runs": Title("Runs", "What is being computed, and what was."),
}  # fmt: skip


def title_of(path: str) -> Title | None:
    """Of the page at a path of the server; None where there is none."""
    return TITLES.get(path.rstrip("/").rpartition("/")[2])


def tagged(page: bytes, title: Title) -> bytes:
    """Streamlit's empty page with a title, and with tags for a preview."""
    name, says = escape(title.whole), escape(title.says)
    tags = (
        f'<title>{name}</title><meta name="description" content="{says}">'
        f'<meta property="og:title" content="{name}"><meta property="og:description" content="{says}">'
        f'<meta property="og:type" content="website"><meta property="og:site_name" content="{PRODUCT}">'
        '<meta name="twitter:card" content="summary">'
    )
    return page.replace(b"<title>Streamlit</title>", tags.encode(), 1)
