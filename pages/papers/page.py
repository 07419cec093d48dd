"""Papers: every item from the five papers with its verdict and numbers, and a ranking of all algorithms."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from dprl.links import link_heading
from dprl.messages import filled
from dprl.papers import Setting
from dprl.papers.claim import TRACES
from dprl.papers.items import Item, all_items, papers, related
from dprl.papers.pictures import curves_picture
from dprl.papers.report import ClaimReport, version
from dprl.simulation import OfflineSpec, RunSpec
from dprl.theory.papers import PAPERS as SOURCES
from pages.attack import link as attack_link
from pages.papers import views
from pages.papers.views import RELATED, open_item, state, verdicts
from pages.shared.controls.widgets import segments, select
from pages.shared.layout.browser import from_top
from pages.shared.layout.chart import kept, save_citations, show
from pages.shared.layout.frame import page_link
from pages.shared.layout.head import common, head, share
from pages.shared.layout.terms import escape, explained
from pages.shared.results.data import bundled_papers
from pages.shared.visitor import links
from pages.shared.visitor.address import query_of, saying
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.state import read_address

ICONS = {
    "holds": "check_circle",
    "fails": "cancel",
    "not settled": "help",
    "superseded": "upgrade",
    "disputed": "priority_high",
    "not tested": "radio_button_unchecked",
}
MEASURE_OF = {"privacy cost": "extra", "regret": "cumulative"}  # by a word in the statistic


def main() -> None:
    s = state()
    read_address(s)
    corner = head(s)
    from_top(s.row)
    if s.item is None:
        show(kept(("paper-matrix",), views.drawn_matrix), "matrix", picked=views.cell_pressed)
        names = {paper.name: paper.title for paper in papers().values()} | {RELATED: "Later papers"}
        segments("Paper", "paper", names, s.paper, lambda name: s.put(paper=name, row="", setting=None))
        if s.paper == RELATED:
            later_papers()
        else:
            rows_of(s.paper)
        st.header("All algorithms at the same proved guarantee", anchor=False)
        views.ranking()
        badge()
    else:
        button("All items", open_item, "", icon="arrow_back", key="all_items")
        opened(s.item)
    with corner:
        share(s)


def rows_of(name: str) -> None:
    """Draw the items of one paper with their verdicts, and name the parts of the paper that we read."""
    paper = papers()[name]
    source = SOURCES[paper.paper]
    st.markdown(f"[{escape(source.line)}]({source.address}). We read {escape(paper.read)}.")
    with st.container(gap="xsmall", key="paper_rows"):
        for item in paper.items:
            verdict = verdicts()[item.address].verdict
            opens, statement = st.columns([1, 3.2], gap="small", vertical_alignment="center")
            label, icon, key = f"**{escape(item.name)}**", ICONS[verdict], f"open_{item.address}"
            with opens:
                button(label, open_item, item.address, icon=icon, key=key, type="tertiary")
            statement.markdown(f"{explained(escape(item.says))} **{said(verdict)}.**")


def said(verdict: str) -> str:
    return {"holds": "Holds here", "fails": "Fails here"}.get(verdict, verdict[:1].upper() + verdict[1:])


def later_papers() -> None:
    """Draw the claims of later papers, with links to the items that they concern."""
    for work in related():
        title = f"[{escape(work.title)}]({work.source})" if work.source else escape(work.title)
        concerns = f"It concerns {', '.join(map(link_to, work.bears_on))}. We read {work.read}."
        st.markdown(f"**{escape(work.name)}**, {title} ({work.date}). {escape(work.says)} {concerns}")


def link_to(address: str) -> str:
    item = all_items()[address]
    query = query_of([*link_heading(), ("item", address)])
    return f"[{escape(papers()[item.paper].title)}, {escape(item.name)}](?{query})"


def opened(item: Item) -> None:
    """Draw one item with its verdict, numbers and charts."""
    found, claim = verdicts()[item.address], item.claim
    st.header(item.name, anchor=False)
    source = SOURCES[papers()[item.paper].paper]
    st.markdown(explained(escape(item.says)))
    authors = ", ".join(family for _, family in source.authors)
    where = "added by us" if item.name.startswith("Ours") else ", ".join(item.covers) or item.name
    common(f"{authors} {source.year}, {where}")
    verdict = f":material/{ICONS[found.verdict]}: **{said(found.verdict)}.**"
    st.markdown(f"{verdict} {explained(escape(found.summary))}")
    if item.source:
        st.markdown(f"[{item.source}]({item.source})")
    for work in related():
        if item.address in work.bears_on and work.source:
            st.markdown(f"See also [{escape(work.name)}]({work.source}): {escape(work.says)}")
    if claim is None:
        return
    assert found.place is not None
    which = f"Setting {found.place + 1}: " if len(item.places) > 1 else ""
    st.markdown(explained(escape(f"{which}{found.number[:1].upper()}{found.number[1:]}.")))
    shown = bundled_papers().reports[claim.key]
    views.statistics(shown, item.places)
    place = found.place if (chosen := state().setting) is None else chosen
    places = dict.fromkeys((*item.places, place))
    titles = {str(i + 1): f"{i + 1}. {claim.settings[i].title}" for i in places}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        now, address = str(place + 1), item.address
        select("Setting", titles, now, lambda to: open_item(address, int(to) - 1), name=address)
        replay(claim.settings[place], f"{item.name}, setting {place + 1}")
    if claim.settings[place].draw is not None:
        draw = partial(curves_picture, claim, claim.settings[place], bundled_papers().evidence)
        show(kept(("claim-curves", claim.key, place), lambda night: draw(dark=night)), "curves")
    with st.expander("Conditions and numbers", icon=":material/list:"):
        numbers(shown)
        badge()
    save_citations(claim.runs)
    st.caption("To compute the verdict again, on the command line:")
    st.code(f"python -m dprl reproduce {claim.key} --out results", language="bash", wrap_lines=True)


def replay(setting: Setting, label: str) -> None:
    """Draw a link to the page that runs a setting. If the setting has many runs, link to the first ones only."""
    specs, kind = setting.specs[: links.MAX_CURVES], setting.specs[0].kind  # all have the same kind
    many = len(setting.specs)
    runs = f"the first {len(specs)} of {many} runs" if many > len(specs) else "these runs"
    if kind == RunSpec.kind:
        path, name = "explore", "Online"
        tab = {"guarantee": "guarantee", TRACES: "counts"}.get(setting.question, links.AT_FIRST.tab)
        view = replace(links.AT_FIRST, tab=tab)
        if measure := next((m for word, m in MEASURE_OF.items() if word in setting.statistic), ""):
            view = replace(view, measure=measure, y="log")
        query = links.encode(list(map(links.Curve, specs)), view)
    elif kind == OfflineSpec.kind:
        path, name, query = "offline", "Offline", links.encode_specs(specs)
    else:
        path, name, query, runs = "attack", "Attack", attack_link.encode(specs[0]), "this attack"
    sentence = saying(f"These settings come from {label}.")
    page_link(path, f"Open {runs} on the {name} page", [*query, *sentence], icon="replay")


def numbers(found: ClaimReport) -> None:
    """Draw the numbers for each setting of a claim, grouped by statistic, and the claim's conditions."""
    lines = []
    for (statistic, _), places in views.by_statistic(found).items():
        lines += ["", f"**{escape(statistic[:1].upper() + statistic[1:])}**", ""]
        for i in places:
            setting, one = found.claim.settings[i], found.findings[i]
            lines.append(
                f"{i + 1}. {escape(setting.title)}: {found.numbers[i]}, claimed {setting.asks}: **{one.verdict}**"
            )
    st.markdown(explained("\n".join(lines)))
    if found.claim.conditions:
        st.caption(explained(escape(found.claim.conditions)))


def badge() -> None:
    """State which versions computed the bundled verdicts, and whether this server has the same ones."""
    then, now = bundled_papers().version, version()
    same = "the same version" if then == now else f"dprl {now['dprl']}, sources {now['sources']}"
    st.caption(f":material/inventory: {escape(filled(views.SAID['version'], **then, same=same))}")


main()
