"""The Home page: a story, a chart with a slider for the privacy budget, and links to the other pages."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dprl.figures.picture import Picture
from dprl.figures.trust import lost_by_trust, lost_numbers
from dprl.messages import filled, messages
from dprl.sentences import price as sentences
from dprl.sentences import promise
from dprl.sentences.noise import deviation
from dprl.sitemap import PAGES
from pages.home.state import EPSILON, LABEL, NEEDED, STOPS, Home, best, is_told, known, link_to, tell
from pages.shared.examples import HOME_BUDGETS, HOME_EPISODES, trust
from pages.shared.layout.browser import component
from pages.shared.layout.chart import cards, draw, explain, kept, save_chart, save_citations
from pages.shared.layout.frame import dark, page_link, redrawn
from pages.shared.layout.head import share, shared_with
from pages.shared.layout.terms import escape, explained
from pages.shared.names import in_common
from pages.shared.results.data import bundled
from pages.shared.visitor.address import STORY, query_of
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.links import AT_FIRST, encode
from pages.shared.visitor.state import read_address, session

# Streamlit's slider sends its value too late to see cause and effect together. This one sends while it moves.
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
    """Draw everything that depends on the slider. This part is redrawn without the rest of the page."""
    s = session()
    h = Home.mine()
    night, said = dark(), messages("start")["home"]
    example = trust(h.epsilon, HOME_EPISODES)
    s.common = in_common(example.curves)
    told = [(STORY, "on")] if h.story else []
    privacy, cost = st.columns([5, 8], gap="medium", vertical_alignment="center")
    with privacy, st.container(key="alone_slider"):  # an embedded page keeps the slider
        data = {
            "label": LABEL,
            "place": HOME_BUDGETS.index(h.epsilon),
            "words": STOPS,
            "spoken": [f"epsilon {e:g}" for e in HOME_BUDGETS],
            "ends": promise.ENDS,
            "queries": [query_of([*told, *link_to(e)]) for e in HOME_BUDGETS],
            "chart": ".st-key-home_chart",  # the chart has an invisible button for each place of the slider
            "write": "eps" not in st.query_params and h.epsilon != EPSILON.default,
        }
        key = f"{s.version}:epsilon"  # a new key moves the slider to the current epsilon
        _slider(data=data, key=key, on_place_change=on_value(key, moved))
    if h.drawn[1] != night:  # the visitor switched between the light and the dark theme
        h.drawn = h.epsilon, night
    costs = known(h.epsilon)
    with cost:
        needed = {cost.model: [sentences.rough_users(cost.needed)] for cost in costs}
        cards(h.epsilon, needed, above=f"<p>{NEEDED}</p>")
    with st.container(key="home_chart"):  # the browser switches charts; sending one would replace it
        draw(kept(("home", *h.drawn), partial(slider_picture, h.drawn[0])), "home")
    explain(
        f"{sentences.about_trust(costs, h.epsilon)} {sentences.SAID['rises']}",
        partial(lost_numbers, costs, h.epsilon),
        "home",
        lambda: h.link,
    )
    st.markdown(explained(sentences.SAID["own_records"]))
    st.markdown(f"**{said['remember']}**")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ways_on"):
        page_link("lessons", said["lesson"])
        page_link("explore", said["explore"], encode(example.curves, AT_FIRST))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ways_more"):
        page_link("data", "Use your own data")
        page_link("papers", "Check the papers' claims")
        save_chart("home", PAGES[""].heading, partial(slider_picture, h.epsilon, False, slider=True))
        save_citations(curve.spec for curve in example.curves)
        share(h)
    st.markdown(explained(f":material/shield: {meaning(h.epsilon)}"))
    st.caption(explained(escape(f"{s.common}. {said['simulated']}" if h.story else s.common)))


def moved(sent: Any) -> None:
    """Store the slider's new position, which its component in the browser has sent."""
    h, place = Home.mine(), sent.get("place")
    if isinstance(place, int) and 0 <= place < len(HOME_BUDGETS):  # the browser may send anything
        h.epsilon, h.problems = HOME_BUDGETS[place], ()


def slider_picture(epsilon: float, night: bool, slider: bool = False) -> Picture:
    """Draw the chart of losses by privacy model at one epsilon, perhaps with a slider for other values."""
    all_costs = {e: known(e) for e in HOME_BUDGETS}
    see = sentences.about_trust(all_costs[epsilon], epsilon)
    return lost_by_trust(all_costs, epsilon=epsilon, v_star=best(), slider=slider, see=see, dark=night)


def meaning(epsilon: float) -> str:
    """Explain an epsilon in one or two sentences."""
    central = next(c.spec for c in trust(epsilon, HOME_EPISODES).curves if c.spec.privacy == "central")
    noise = bundled("home")[central].noise_std or 0.0
    added = filled(messages("start")["home"]["noise"], deviation=deviation(noise, central.episodes))
    return f"{promise.outcome(epsilon, central.delta or 0.0)} {added}"


main()
