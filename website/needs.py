"""Users needed: the measured environments, with sliders for the budget and the number of users."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from dprl.figures.picture import Picture, markup
from dprl.privacy import PRIVATIZERS
from dprl.sitemap import PAGES
from dprl.users import Asked, Need, answers
from dprl.words import human
from pages.users import words
from pages.users.link import users_table
from website.document import Document, Numbers, Plot, Slider, Sliders, paragraph

EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
USERS = tuple(10**power for power in range(4, 16))
DEFAULT = Asked()
INTRO = (
    "Choose an environment, the privacy budget ε and the number of your users. The table shows in which privacy models "
    "they are enough."
)

SEE = (
    "The two plain lines are your users and your ε. A privacy model below the point where they cross needs fewer users "
    "than you have."
)


def needs() -> Document:
    """Build the page Users needed."""
    problems = [words.named(one) for one in users_table().problems.values()]
    sliders = (
        Slider("Environment", tuple(map(float, range(len(problems)))), tuple(problems), 0),
        Slider(
            "Privacy budget ε (a smaller one hides more)",
            EPSILONS,
            tuple(f"ε = {e:g}" for e in EPSILONS),
            EPSILONS.index(DEFAULT.epsilon),
        ),
        Slider(
            "Your users K", tuple(map(float, USERS)), tuple(map(human, USERS)), USERS.index(DEFAULT.users)
        ),
    )
    return Document(
        PAGES["users"].heading,
        f"δ = {human(DEFAULT.delta)} · {DEFAULT.loss:g}% of V* may be lost · V* is the best policy's expected reward",
        (
            paragraph(INTRO),
            Sliders(sliders),
            Numbers(("Privacy model", "Your users are", "Users needed", "Smallest ε for your users"), cells),
            Plot(picture, turned=0, upright=1, level=2),
            paragraph(words.SIGNS),
            f"<h2>Basis of these numbers</h2><ul>{''.join(f'<li>{markup(said)}</li>' for said in assumptions())}</ul>",
        ),
    )


def assumptions() -> list[str]:
    """List the assumptions behind the numbers, except those about inputs that this page lacks."""
    asked = replace(DEFAULT, problem=next(iter(users_table().problems)), users=1)
    return [said for said in words.assumptions(asked) if said not in (words.VALUE, words.TODAY)]


@cache
def _asked(problem: int, epsilon: int, users: int) -> tuple[Asked, list[Need]]:
    key = list(users_table().problems)[problem]
    asked = replace(DEFAULT, problem=key, epsilon=EPSILONS[epsilon], users=USERS[users])
    return asked, answers(users_table(), asked)


def cells(at: tuple[int, ...]) -> list[list[str]]:
    """Return a table row for each privacy model. at: the stops of the three sliders."""
    _, found = _asked(*at)
    return [
        [
            PRIVATIZERS[one.model].title,
            words.HEADINGS[one.verdict],
            words.needs(one),
            words.smallest(one) or "–",
        ]
        for one in found
    ]


def picture(place: int, dark: bool) -> Picture:
    """Draw the users needed against epsilon. place: the stop of the slider for the environment."""
    asked, found = _asked(place, EPSILONS.index(DEFAULT.epsilon), USERS.index(DEFAULT.users))
    return words.picture(asked, found, dark, SEE, mine=False)
