"""The site's first page: the animated story, the dashboard's Home below it, and links to the other pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dprl.figures.picture import Picture
from dprl.figures.trust import lost_by_trust
from dprl.messages import messages
from dprl.sentences import price as sentences
from dprl.sitemap import PAGES
from pages.home.state import EPSILON, LABEL, NEEDED, STOPS, best, known, story_content
from pages.shared.examples import HOME_BUDGETS, HOME_EPISODES, trust
from pages.shared.names import in_common
from website.document import Document, Numbers, Plot, Slider, Story, paragraph

AFTER = "home"  # the anchor below the story, to which links to Home lead
LIVE = "Your own browser plays these runs, from the first user to the last. Move epsilon, the users and the seeds."


def home(here: str, live: Sequence[tuple[str, str, str]], others: Sequence[tuple[str, str]]) -> Document:
    """Build the site's first page.

    Args:
        here: the file of this page.
        live: (file, title, description) of each page that simulates runs.
        others: (file, path in the sitemap) of each other page.
    """
    at = HOME_BUDGETS.index(EPSILON.default)
    slider = Slider(LABEL, STOPS, at)
    cards = "".join(_card(file, title, say) for file, title, say in live)
    more = "".join(_card(file, PAGES[path].heading, PAGES[path].says) for file, path in others)
    said = messages("start")["home"]
    common = in_common(trust(EPSILON.default, HOME_EPISODES).curves)
    return Document(
        PAGES[""].heading,
        "",
        (
            f'<p class="again"><a href="{here}">{escape(said["again"])}</a></p>',
            Story(story_content() | {"own": ""}),  # own data need a dashboard
            f'<section id="{AFTER}"><h2>{escape(said["title"])}</h2>{paragraph(said["about"])}',
            f'<p class="about">{escape(common)}</p>',
            slider,
            Numbers(("", NEEDED), numbers),
            Plot(picture, turned=True),
            "</section>",
            f'<h2 id="live">Play runs yourself</h2>{paragraph(LIVE)}<div class="ways">{cards}</div>',
            f'<h2>Go on</h2><div class="ways">{more}</div>',
        ),
    )


def numbers(place: int) -> list[list[str]]:
    """Return a table row with the number of users needed for each privacy model, at one stop of the slider."""
    return [[cost.name, sentences.rough_users(cost.needed)] for cost in known(HOME_BUDGETS[place])]


def picture(place: int, dark: bool) -> Picture:
    """Draw the chart of the number of users needed at one epsilon."""
    epsilon = HOME_BUDGETS[place]
    costs = known(epsilon)
    see = sentences.about_trust(costs, epsilon)
    return lost_by_trust({epsilon: costs}, epsilon=epsilon, v_star=best(), see=see, dark=dark)


def _card(file: str, title: str, say: str) -> str:
    return f'<section class="card"><h3><a href="{escape(file)}">{escape(title)}</a></h3>{paragraph(say)}</section>'
