"""Claims: what the papers say, put to the test, with a verdict that is computed."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.claims import CLAIMS, Claim
from dprl.claims.report import ClaimReport, version
from dprl.simulation import estimate
from dprl.words import duration
from pages.claims import views
from pages.claims.state import (
    claim_progress,
    claims,
    computed_here,
    going,
    open_claim,
    run_again,
    stop_waiting,
)
from pages.shared.controls.widgets import select
from pages.shared.layout.browser import from_top
from pages.shared.layout.cards import card_list, opener
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.results import data, together
from pages.shared.results.again import save_citations
from pages.shared.results.evidence import bundled
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import read_address

ICONS = {
    "holds": ":material/check_circle:",
    "holds as an upper bound": ":material/vertical_align_top:",
    "nothing learned yet": ":material/hourglass_empty:",
    "undecided": ":material/help:",
    "does not hold here": ":material/cancel:",
}
MIXED = ":material/rule:"
SAME = "Computed again here, the same numbers:"
OTHER = "Computed again here, other numbers:"
PACE = 0.5  # seconds between two looks at what is running


def main() -> None:
    c = claims()
    read_address(c)
    corner = head(c)
    from_top(c.key)
    if not c.key:
        list_claims(corner)
    else:
        claim = CLAIMS[c.key]
        every = PACE if c.key in c.again and going(claim) else None
        redrawn(partial(opened, claim, corner), every)


def list_claims(corner: DeltaGenerator) -> None:
    """All claims, each with its verdict."""
    st.markdown(
        explained(
            "Ten claims of the papers, put to the test in several settings each. A verdict is computed from runs: "
            "a statistic, its 95% interval, and a threshold. A claim *holds as an upper bound* where growth may "
            "be slower than claimed."
        )
    )
    card_list(list(CLAIMS.values()), claim_card)
    badge()
    with corner:
        share(claims())


def claim_card(claim: Claim, number: int) -> None:
    """One of them."""
    opener(number, claim.title, claim.key, open_claim)
    st.markdown(explained(escape(claim.says)))
    st.markdown(explained(verdict_headline(bundled().reports[claim.key])))
    st.caption(explained(escape(claim.source)))


def verdict_headline(found: ClaimReport) -> str:
    """The verdict in a sentence, with a sign for it; one of its own where it holds in some settings only."""
    holds = [one.verdict.startswith("holds") for one in found.findings]
    icon = ICONS[found.verdict] if all(holds) or not any(holds) else MIXED
    return f"{icon} **{escape(found.summary)}**"


def opened(claim: Claim, corner: DeltaGenerator, live: bool) -> None:
    """One claim: its verdict, numbers and charts, and its runs while they go on."""
    c = claims()
    asked = claim.key in c.again
    if live != (asked and going(claim)):
        st.rerun()
    place = list(CLAIMS).index(claim.key)
    with st.container(horizontal=True, gap="small"):
        st.button(
            "All claims",
            icon=":material/arrow_back:",
            key="all_claims",
            on_click=callback(open_claim),
            args=("",),
        )
        if place + 1 < len(CLAIMS):
            following = list(CLAIMS)[place + 1]
            st.button(
                "Next",
                icon=":material/arrow_forward:",
                key="next",
                on_click=callback(open_claim),
                args=(following,),
            )
    st.header(f"{place + 1}. {claim.title}", anchor=False)
    st.markdown(explained(escape(claim.says)))
    common(claim.source)
    found = bundled().reports[claim.key]
    st.markdown(explained(verdict_headline(found)))
    badge()
    here = computed_here(claim) if asked else None
    again(claim, here and here[1])
    numbers(found, here and here[1])
    if found.beside:
        st.markdown(f"**{escape(found.beside.claim.title)}**")
        st.markdown(explained(f"{escape(found.beside.claim.says)} {verdict_headline(found.beside)}"))
        numbers(found.beside, here and here[1].beside)
    if claim.conditions:
        st.caption(explained(escape(claim.conditions)))
    known, shown, token = (here[0], here[1], "here") if here else (bundled().evidence, found, "bundled")
    views.statistics(shown, token)
    drawable = [i for i, setting in enumerate(claim.settings) if setting.draw]
    if drawable:
        chosen = c.setting if c.setting in drawable else drawable[0]
        select(
            "Curves of setting",
            [str(i + 1) for i in drawable],
            str(chosen + 1),
            lambda value: open_claim(claim.key, int(value) - 1),
            {str(i + 1): f"{i + 1}. {claim.settings[i].title}" for i in drawable},
            name=claim.key,
        )
        views.setting_curves(shown, known, chosen, token)
    views.paper_figures(claim.key)
    save_citations(claim.runs)
    st.caption("The same on the command line:")
    st.code(f"python -m dprl reproduce {claim.key} --out results", language="bash", wrap_lines=True)
    with corner:
        share(c)


def badge() -> None:
    """With what the bundled verdicts were computed."""
    then, now = bundled().version, version()
    same = (
        "The same runs here." if then == now else f"Here runs dprl {now['dprl']}, sources {now['sources']}."
    )
    libraries = f"numba {then['numba']}, NumPy {then['numpy']}"
    said = f"Computed with dprl {then['dprl']}, sources {then['sources']}, {libraries}. {same}"
    st.caption(f":material/inventory: {escape(said)}")


def again(claim: Claim, here: ClaimReport | None) -> None:
    """The button that computes it here, how far that is, and what came out."""
    if claim.key not in claims().again:
        lacking = [spec for spec in claim.runs if data.status(spec).state != "done"]
        seconds = sum(estimate(spec).seconds * spec.seeds for spec in lacking) / data.workers()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                "Run again",
                icon=":material/replay:",
                key="again",
                on_click=callback(run_again),
                args=(claim.key,),
            )
            st.caption(f"Takes {duration(seconds)} here." if lacking else "Computed here before.")
        return
    together.strip(
        claim_progress(claim),
        owner_id("claims"),
        partial(run_again, claim.key),
        partial(stop_waiting, claim.key),
    )
    if here is not None:
        said = SAME if here.numbers == bundled().reports[claim.key].numbers else OTHER
        st.markdown(f":material/replay: {said} **{escape(here.summary)}**")


def numbers(found: ClaimReport, here: ClaimReport | None) -> None:
    """Each setting with its numbers, under what is measured."""
    lines = []
    for (statistic, _), places in views.by_statistic(found).items():
        lines += ["", f"**{escape(statistic[:1].upper() + statistic[1:])}**", ""]
        for i in places:
            setting, one = found.claim.settings[i], found.findings[i]
            said = f"{i + 1}. {escape(setting.title)}: {found.numbers[i]}, claimed {setting.asks}: **{one.verdict}**"
            if here is not None:
                said = f"{said}. Computed here: {here.numbers[i]}, **{here.findings[i].verdict}**"
            lines.append(said)
    st.markdown(explained("\n".join(lines)))


main()
