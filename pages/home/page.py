"""Home: a story, then one finished chart, one slider that moves privacy and regret together, and the way on."""

from __future__ import annotations

from functools import partial
from html import escape as html
from typing import Any

import streamlit as st

from dprl.figures import looks
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.figures.trust import Cost, lost_by_trust, lost_numbers
from dprl.messages import messages
from dprl.sentences import price as sentences
from dprl.sentences import promise
from dprl.sentences.noise import deviation
from dprl.sitemap import PAGES
from pages.home.state import EPSILON, LABEL, NEEDED, STOPS, Home, best, is_told, known, link_to, tell
from pages.shared.examples import HOME_BUDGETS, HOME_EPISODES, trust
from pages.shared.layout.browser import component
from pages.shared.layout.chart import draw, explain, kept, save_chart
from pages.shared.layout.frame import dark, page_link, redrawn
from pages.shared.layout.head import share, shared_with
from pages.shared.layout.terms import escape, explained
from pages.shared.names import in_common
from pages.shared.results.again import save_citations
from pages.shared.results.bundled import bundled
from pages.shared.visitor.address import STORY, query_of
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.state import read_address, session

# It answers while it moves. Streamlit's own waits a while before it sends, too long to see cause and effect as one.
_slider = component("slider")


def main() -> None:
    h = Home.mine()
    read_address(h)
    st.title(PAGES[""].heading, anchor=False)
    for problem in h.problems if st.query_params else ():
        st.warning(escape(problem), icon=":material/link_off:")
    shared_with(h)
    if is_told(h):
        tell()
    else:
        page_link("", messages("start")["home"]["again"], icon="play_circle")
    with st.container(key="home_scene"):
        if h.story:
            st.header(messages("start")["home"]["title"], anchor=False)
        st.markdown(explained(messages("start")["home"]["about"]))
        h.drawn = h.epsilon, dark()
        redrawn(at_one_epsilon, None, "home")


def at_one_epsilon(live: bool) -> None:
    """Draw everything that moves with the slider; it redraws itself."""
    s = session()
    h = Home.mine()
    night = dark()
    example = trust(h.epsilon, HOME_EPISODES)
    s.common = in_common(example.curves)
    told = [(STORY, "on")] if h.story else []
    privacy, cost = st.columns([5, 8], gap="medium", vertical_alignment="center")
    with privacy, st.container(key="alone_slider"):  # which stays when the page is within another one
        data = {
            "label": LABEL,
            "place": HOME_BUDGETS.index(h.epsilon),
            "words": STOPS,
            "spoken": [f"epsilon {e:g}" for e in HOME_BUDGETS],
            "ends": promise.ENDS,
            "queries": [query_of([*told, *link_to(e)]) for e in HOME_BUDGETS],
            "chart": ".st-key-home_chart",  # with a button for each place, which is pressed as the slider moves
            "write": "eps" not in st.query_params and h.epsilon != EPSILON.default,
        }
        key = f"{s.version}:epsilon"  # to move the slider from elsewhere, it is drawn under another one
        _slider(data=data, key=key, on_place_change=on_value(key, moved))
    if h.drawn[1] != night:  # day and night changed meanwhile
        h.drawn = h.epsilon, night
    costs = known(h.epsilon)
    with cost:
        st.html(cards(costs, h.epsilon, night))
    with st.container(key="home_chart"):  # the slider turns it; sent anew it would be replaced
        draw(kept(("home", *h.drawn), partial(slider_picture, h.drawn[0])), "home")
    explain(
        f"{sentences.about_trust(costs, h.epsilon)} {sentences.RISES}",
        partial(lost_numbers, costs, h.epsilon),
        "home",
        lambda: h.link,
    )
    st.markdown(explained(sentences.OWN_RECORDS))
    said = messages("start")["home"]
    st.markdown(f"**{said['remember']}**")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ways_on"):
        page_link("lessons", said["lesson"])
        page_link("explore", said["explore"], example.query)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ways_more"):
        page_link("data", "Use your own data")
        page_link("papers", "Check the papers' claims")
        save_chart("home", PAGES[""].heading, partial(slider_picture, h.epsilon, False, slider=True))
        save_citations(curve.spec for curve in example.curves)
        share(h)
    st.markdown(explained(f":material/shield: {meaning(h.epsilon)}"))
    st.caption(explained(escape(f"{s.common}. {said['simulated']}" if h.story else s.common)))


def moved(sent: Any) -> None:
    """Store the new place of the slider."""
    h, place = Home.mine(), sent.get("place")
    if isinstance(place, int) and 0 <= place < len(HOME_BUDGETS):  # it comes from a browser
        h.epsilon, h.problems = HOME_BUDGETS[place], ()


def slider_picture(epsilon: float, night: bool, slider: bool = False) -> Picture:
    """Draw the chart, at one epsilon first. slider: with one of its own."""
    all_costs = {e: known(e) for e in HOME_BUDGETS}
    see = sentences.about_trust(all_costs[epsilon], epsilon)
    return lost_by_trust(all_costs, epsilon=epsilon, v_star=best(), slider=slider, see=see, dark=night)


def meaning(epsilon: float) -> str:
    """Explain an epsilon in words."""
    central = next(c.spec for c in trust(epsilon, HOME_EPISODES).curves if c.spec.privacy == "central")
    noise = bundled("home")[central].noise_std or 0.0
    return (
        f"{promise.outcome(epsilon, central.delta or 0.0)} For that, a trusted curator adds noise to each visit "
        f"count: **{deviation(noise, central.episodes)}**."
    )


def cards(costs: list[Cost], epsilon: float, night: bool) -> str:
    """Draw the users that each model needs, in sizes to match, in the colours of the curves."""
    items = []
    for cost in costs:
        sign = looks.swatch(CurveStyle(cost.model, epsilon), night)
        mark = f'<img src="{sign.uri}" alt="" height="{sign.height}">'
        items.append(
            f"<div><dt>{mark} {explained(html(cost.name), html=True)}</dt>"
            f"<dd>{html(sentences.rough_users(cost.needed))}</dd></div>"
        )
    return f'<div class="dprl-cards"><p>{NEEDED}</p><dl>{"".join(items)}</dl></div>'


main()
