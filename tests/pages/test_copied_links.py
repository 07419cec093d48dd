"""Links that were changed on their way: they open as they were meant, or a sentence reports what could not be used."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from pages.shared.visitor.address import NOTHING, query_of
from tests.pages.opened import PAGES, opened
from tests.pages.test_hostile import GOOD

WAYS = {
    "out of HTML": lambda link: link.replace("&", "&amp;"),
    "encoded twice": lambda link: link.replace("%", "%25").replace("~", "%257E"),
    "encoded whole": lambda link: quote(link, safe=""),
    "encoded whole, twice": lambda link: quote(quote(link, safe=""), safe=""),
    "upper case keys": lambda link: "&".join(
        part.partition("=")[0].upper() + "=" + part.partition("=")[2] for part in link.split("&")
    ),
    "with a tracker": lambda link: f"{link}&utm_source=mail&fbclid=1",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("page", GOOD)
@pytest.mark.usefixtures("reading")
def test_a_changed_link_opens_as_it_was_meant(page: str, way: str) -> None:
    for link in GOOD[page]:
        found, meant = opened(page, WAYS[way](query_of(link))), opened(page, query_of(link))
        assert (found.items, found.problems) == (meant.items, meant.problems)


@pytest.mark.parametrize("query", ["curve=eps.2", "v=1&curve=eps.2", "nothing", "x%20y=1&amp;z=2"])
@pytest.mark.parametrize(
    "page", sorted(set(PAGES) - {"explore", "tradeoffs"})
)  # which have a parameter named x
@pytest.mark.usefixtures("reading")
def test_a_link_with_nothing_known_is_reported_in_one_sentence(page: str, query: str) -> None:
    (problem,) = opened(page, query).problems
    assert problem.startswith(f"{NOTHING}: this page has no parameter named ")
    assert problem.endswith(".")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("reading")
def test_a_link_without_parameters_of_the_view_is_silent(page: str) -> None:
    for query in ("", "v=1", "fbclid=1", "utm_source=mail&v=1"):
        assert opened(page, query).problems == ()


@pytest.mark.parametrize("end", [".", ")", ",", ")."])
@pytest.mark.parametrize(
    ("page", "query"), [("explore", "c=eps.2"), ("home", "eps=3"), ("room", "room=BCDFGH")]
)
@pytest.mark.usefixtures("reading")
def test_punctuation_after_a_link_is_left_out_and_reported(page: str, query: str, end: str) -> None:
    found = opened(page, query + end)
    assert found.query == opened(page, query).query
    assert found.problems == (f"The link ended in {end}, which was ignored.",)


@pytest.mark.usefixtures("reading")
def test_the_end_of_a_sentence_or_of_a_name_stays() -> None:
    for query in ("c=eps.2~name.More private.", "c=eps.2&say=Look here (all of it)."):
        assert opened("explore", query).problems == ()
    assert opened("explore", "c=eps.2&say=Look here.").sentence == "Look here."
