"""`dprl verify` and a page that plays its runs say the same of links that carry check values; none that is falsified
passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from dprl.assets import classic
from dprl.figures.looks import CurveStyle
from dprl.links import MAX_CURVES, spec_pairs
from dprl.player import PlayedCurve, Shown, player_page
from dprl.player.codec import codec
from dprl.simulation import RunSpec
from dprl.simulation.loops.replan import SeedRun
from dprl.verify import verified
from dprl.wasm import light_pack, replay
from dprl.words import SAID as NUMBERS
from tests.problems import first
from tests.wasm.cases import covered
from tests.wasm.claimed import FALSIFIED, authors, claim_of, link_to

# What a page of the author's runs says of a link: it follows it, plays the link's runs, and compares. Or it refuses.
SAID = """async ([source, codec, tiny, own, fragment, curves]) => {
  const { decode, checkIn, compared, resultOf } =
    new Function(`${source}; return { decode, checkIn, compared, resultOf }`)();
  let check;
  try {
    check = checkIn(decode(fragment, codec, own).check);
  } catch (error) {
    return { same: false, says: [String(error)] };
  }
  const played = [];
  for (const { spec, names, packs } of curves) {
    const rows = [];
    let episodes;
    for (const text of packs) {
      const pack = JSON.parse(text);
      pack.buffers = pack.buffers.map(({ bytes, zeros }) =>
        zeros ?? Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)));
      const result = resultOf({ names }, (await play(module, kernels, pack)).bytes, false);
      episodes = result.episodes;
      rows.push(result.regret);
    }
    played.push({ spec, episodes, rows });
  }
  return compared(played, check, tiny);
}"""
SCRIPTS = classic(
    "player_words.js",
    "player_sentence.js",
    "player_link.js",
    "player_digest.js",
    "player_check.js",
    "player_pack.js",
)
AUTHORS, COVERED = authors(), len(list(covered()))
EVERY = len(AUTHORS) // len(FALSIFIED)  # of so many links one is falsified
# The fifth of each: what a shuffler's bits prove takes seconds to find.
LIES = dict(zip(range(EVERY - 1, len(AUTHORS), EVERY), FALSIFIED, strict=False))


def said(page: Page, own: list[RunSpec], shown: list[RunSpec], link: str) -> tuple[bool, list[str]]:
    """What the page says. own: the author's runs; shown: the link's."""
    curves = []
    for spec in shown:
        packs = [light_pack(SeedRun(spec, seed)) for seed in range(spec.seeds)]
        names = [buffer.name for buffer in packs[0].buffers]
        curves.append({"spec": around(spec), "names": names, "packs": [pack.to_json() for pack in packs]})
    fragment = link.partition("?")[2]
    found: dict[str, Any] = page.evaluate(
        SAID, [SCRIPTS, codec(), NUMBERS["tiny"], [spec_pairs(s) for s in own], fragment, curves]
    )
    return found["same"], found["says"]


def around(spec: RunSpec) -> list[str]:
    """A spec's JSON before and behind the number of seeds."""
    mark = f'"seeds":{spec.seeds}'
    before, behind = spec.to_json().split(mark, 1)
    return [before + '"seeds":', behind]


def agree(page: Page, author: RunSpec, how: str = "") -> None:
    """What both say of a link, honest or falsified, is the same."""
    claim = claim_of([author])
    shown, check = FALSIFIED[how](claim) if how else claim
    link = link_to(shown, check)
    good, sentences = verified(link)
    there, says = said(page, [author], shown, link)
    assert (good, there) == (not how, not how), (author.label(), how)
    if "no run of this page" not in says[0]:
        assert says == sentences


def test_there_are_fifty_links_or_more_of_which_ten_are_falsified() -> None:
    assert len(AUTHORS) >= 50
    assert len(LIES) == len(FALSIFIED) == 10


@pytest.mark.parametrize(("number", "how"), first(LIES.items(), lambda lie: lie[0] == min(LIES)))
def test_a_falsified_link_is_found_on_both_sides(engine: Page, number: int, how: str) -> None:
    agree(engine, AUTHORS[number], how)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[] if number in (0, 10) else pytest.mark.thorough)
        for number in range(len(AUTHORS))
        if number not in LIES
    ],
)
def test_an_honest_link_has_the_same_bits_on_both_sides(engine: Page, number: int) -> None:
    agree(engine, AUTHORS[number])


PAGES, LINKS = 5, 10  # of each, of which two are falsified
PLAIN = "http://plain.test/"  # where a browser takes no digests; tests/browser/test_one_page.py opens files


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(PAGES))
def test_a_whole_page_says_of_ten_links_what_the_command_says(
    engine: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Fifty in all, over every algorithm, privacy model and mechanism that a page plays."""
    monkeypatch.setattr(replay, "STOPS", (0.3, 3.0))
    playable = [spec.replace(episodes=10**4) for spec in AUTHORS[:COVERED] if not replay.unplayable(spec)]
    authors = playable[number::PAGES]
    assert 1 < len(authors) <= MAX_CURVES
    curves = [
        PlayedCurve(spec, f"{i}", f"{i}", CurveStyle(spec.privacy, number=i), {10**4: replay.replayed(spec)})
        for i, spec in enumerate(authors, 1)
    ]
    file = tmp_path / "runs.html"
    file.write_text(player_page("Runs", "", curves, Shown(), footer=""), "utf-8")
    assert engine.context.browser is not None
    opened = engine.context.browser.new_page()
    opened.route(f"{PLAIN}*", lambda route: route.fulfill(path=file))
    opened.goto(PLAIN)
    assert not opened.evaluate("isSecureContext")
    lies = dict(zip((3, 8), list(FALSIFIED)[number::PAGES], strict=True))
    for place in range(LINKS):
        budget = (1.0, 0.3, 3.0)[place % 3]
        seeds = 1 + place // 3
        specs = [
            spec.replace(seeds=seeds) if spec.epsilon is None else spec.replace(seeds=seeds, epsilon=budget)
            for spec in authors
        ]
        claim = claim_of(specs)
        link = link_to(*(FALSIFIED[lies[place]](claim) if place in lies else claim))
        good, sentences = verified(link)
        assert good == (place not in lies)
        opened.goto(f"{PLAIN}#{link.partition('?')[2]}")
        if lies.get(place) == "the random numbers":
            expect(opened.locator("#said")).to_contain_text("is no run of this page (seed)")
            continue
        expect(opened.locator("#checked")).to_have_text("".join(sentences))
        expect(opened.locator("#checked.differs")).to_have_count(0 if good else 1)
    opened.close()
