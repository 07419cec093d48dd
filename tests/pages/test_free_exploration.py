"""When is privacy free?, the view of exploration noise: at once, live, its numbers and sentences, and its ends."""

from __future__ import annotations

from math import log, sqrt
from urllib.parse import parse_qs

import numpy as np
import pytest

from dprl import metrics
from dprl.claims.exploration import KEY, MOST, TOLD, planned
from dprl.figures.exploration import Beside
from dprl.jobs.store import Store
from dprl.links import encode_spec
from dprl.metrics import at_most
from dprl.sentences import exploration as sentences
from dprl.simulation import RunSpec, run
from dprl.words import human, percent
from pages.free.exploration import attacked, beside
from pages.free.link import BASE
from pages.free.state import Free
from pages.shared.results import answers
from pages.shared.results.bundled import bundled
from pages.shared.results.evidence import bundled as claims
from pages.shared.visitor import links
from tests.pages.conftest import Visit, Work, charts, choice, press, words

PAGE = "free"
SHOW = "exploration"
SMALL = BASE.replace(environment_params={"S": 3, "H": 3}, episodes=10**4, seeds=2)


def test_each_number_of_users_has_calibrated_noise_for_just_what_is_claimed_of_it() -> None:
    """S = 6, A = 2, H = 20: rho = 4K/(400 ln 480), epsilon = rho + 2 sqrt(rho ln 10^6)."""
    found = planned(BASE.replace(root_seed=3))
    assert [pair.users for pair in found.pairs[:4]] == [100, 200, 500, 1000]
    for pair in found.pairs:
        rho = 4 * pair.users / (400 * log(480))
        assert pair.epsilon == pytest.approx(rho + 2 * sqrt(rho * log(1e6)), rel=5e-3)
        own, other = pair.own, pair.calibrated
        assert (own.algorithm, own.privacy) == ("rlsvi", "none")
        assert (other.algorithm, other.privacy, other.calibration) == ("dp-ucbvi", "central", "tight")
        assert (own.episodes, own.seeds, own.root_seed) == (other.episodes, other.seeds, other.root_seed)
        assert (other.seeds, other.root_seed, other.delta) == (20, 3, found.delta)
    assert found.beyond is not None
    users, epsilon = found.beyond
    assert (found.pairs[-1].users, users) == (5 * 10**6, 10**7)
    assert epsilon > MOST == 10_000
    few = planned(BASE.replace(episodes=10_000))
    assert (few.pairs[-1].users, few.beyond) == (10_000, None)


def test_it_is_there_at_once_with_its_numbers_and_whose_claim_it_is(visit: Visit, store: Store) -> None:
    app = visit(PAGE, show=SHOW)
    text = words(app)
    ends = bundled("exploration")
    pairs = planned(BASE).pairs
    logs = [np.log(ends[pair.own].ends / ends[pair.calibrated].ends) for pair in pairs]
    ratios = [metrics.t_interval(row, len(pairs)) for row in logs]
    first = next(i for i in range(len(pairs)) if all(ratio.low > 0 for ratio in ratios[i:]))
    assert first > 0
    assert f"calibrated noise costs less from {human(pairs[first].users)} users on" in text
    for place in (first - 1, first, len(pairs) - 1):
        value, low, high = (human(float(np.exp(x))) for x in ratios[place])
        epsilon = human(pairs[place].epsilon)
        where = f"**{human(pairs[place].users)} users**, ε = {epsilon}: RLSVI loses"
        assert f"{where} {value} times as much ({low} to {high})." in text
    last, v_star = pairs[-1], answers.v_star(BASE)
    assert v_star is not None
    shares = [percent(ends[one].ends.mean() / last.users / v_star) for one in (last.own, last.calibrated)]
    assert f"RLSVI has lost {shares[0]} of all there is to lose, DP-UCBVI {shares[1]}." in text
    assert "before 10 million users. There the claim is ε = 17,100, and a run takes at most 10,000." in text
    assert "Claimed, not proved here" in text
    report = claims().reports[KEY]
    worse = [
        one
        for one, setting in zip(report.findings, report.claim.settings, strict=True)
        if setting.statistic == TOLD and one.verdict == "does not hold here"
    ]
    assert f"found a larger ε than is claimed at {len(worse)} of 3 sizes" in text
    assert any(f"ε = {human(one.value)} ({human(one.low)} to {human(one.high)})" in text for one in worse)
    (chart,) = charts(app)
    assert chart.alt
    assert store.status.activity().runs_waiting == 0
    assert "Computed before" in words(app)


def test_with_paper_constants_another_answer_is_there_at_once(visit: Visit, store: Store) -> None:
    app = visit(PAGE, show=SHOW)
    choice(app, "Paper constants").set_value("paper").run()
    pairs = planned(BASE.replace(bonus="paper")).pairs
    found = beside(pairs)
    assert sentences.headline(found) in words(app)
    assert app.session_state["session"].part(Free).view.show == SHOW
    assert store.status.activity().runs_waiting == 0


def test_its_links_open_two_runs_and_the_claim(visit: Visit) -> None:
    app = visit(PAGE, show=SHOW)
    ways = {e.proto.label: e.proto for e in app.get("page_link")}
    (label,) = [label for label in ways if "Online" in label]
    opened = [curve.spec for curve in links.decode(parse_qs(ways[label].query_string)).curves]
    pairs = planned(BASE).pairs
    assert opened in [[pair.own, pair.calibrated] for pair in pairs]
    assert label == "Compare two of these runs on Online"  # whichever they are
    assert parse_qs(ways["Open this claim in Papers' claims"].query_string) == {"claim": [KEY]}


def test_other_problems_run_live_and_say_what_the_engine_says(visit: Visit, work: Work, store: Store) -> None:
    app = visit(PAGE, b=encode_spec(SMALL), show=SHOW)
    pairs = planned(SMALL).pairs
    assert f"{2 * len(pairs)} runs" in words(app)
    assert {store.status.of(pair.own).state for pair in pairs} == {"queued"}
    assert store.status.of(SMALL).state == "unknown"  # the four of the other views are not asked for
    work()
    app = visit(PAGE, b=encode_spec(SMALL), show=SHOW)
    found = beside(pairs)
    assert sentences.headline(found) in words(app)
    assert len(charts(app)) == 1
    last = pairs[-1]
    own, other = (run(spec).regret[:, -1] for spec in (last.own, last.calibrated))
    assert found.ratio[-1] == pytest.approx(metrics.ratio(own, other).value)


def test_a_view_that_was_not_asked_for_waits_for_a_button(visit: Visit, work: Work, store: Store) -> None:
    app = visit(PAGE, b=encode_spec(SMALL))
    work()
    choice(app, "Exploration noise").set_value(SHOW).run()
    assert store.status.activity().runs_waiting == 0
    assert "Nothing has been computed." in words(app)
    press(app, "begin")
    assert store.status.activity().runs_waiting == 2 * len(planned(SMALL).pairs)
    press(app, "cancel")
    assert store.status.activity().runs_waiting == 0


def test_the_curves_end_where_more_is_claimed_than_a_run_takes(finished: Visit) -> None:
    """One step and many actions, so that it is soon: rho = 200 K/ln 400 is 3,338 for a hundred users."""
    base = RunSpec(
        environment="random", environment_params={"S": 2, "A": 100, "H": 1}, episodes=10_000, seeds=2
    )
    found = planned(base)
    assert [pair.users for pair in found.pairs] == [100, 200]
    app = finished(PAGE, b=encode_spec(base), show=SHOW)
    assert "The curves end before 500 users. There the claim is ε =" in words(app)
    assert len(charts(app)) == 1


UNKNOWN = (np.nan, np.nan, np.nan)
USERS = np.array([100, 1000, 10_000])


def found(ratio: list[float], first: int | None) -> Beside:
    value = np.array(ratio)
    return Beside(USERS, np.array([3.0, 10.0, 50.0]), value, 0.9 * value, 1.1 * value, first, UNKNOWN)


@pytest.mark.parametrize(
    ("ratio", "first", "sentence"),
    [
        ([0.5, 2, 3], 1, "costs less from 1,000 users on."),
        ([2, 2, 3], 0, "costs less at every K that was run, from 100 users to 10,000."),
        (
            [0.5, 0.5, 0.5],
            None,
            "exploration noise still costs less at 10,000 users, the most that were run.",
        ),
        (
            [2, 2, 1.05],
            None,
            "the runs cannot tell which noise costs less at 10,000 users, the most that were run.",
        ),
        ([2, 2, np.nan], None, "the runs cannot tell which noise costs less at 10,000 users"),
    ],
)
def test_the_answer_is_what_the_intervals_say(ratio: list[float], first: int | None, sentence: str) -> None:
    said = sentences.headline(found(ratio, first))
    assert sentence in said
    assert len(said.split()) <= 25
    assert len(sentences.about_numbers(found(ratio, first))) >= 2


def test_what_was_found_of_the_claim_is_said_whatever_it_is() -> None:
    titles = [title for title, _ in attacked()]
    assert len(titles) == 3
    fine = at_most(metrics.Measured(0.5, 0.1, 0.9), 1.3)
    assert "found no more than is claimed. That proves nothing." in sentences.claimed(
        "A", 1e-6, [("S", fine)]
    )
    worse = at_most(metrics.Measured(3.0, 2.0, 4.0), 1.0)
    text = sentences.claimed("A", 1e-6, [("small", fine), ("large", worse)])
    assert "at 1 of 2 sizes. At large it found ε = 3 (2 to 4), where 1 is claimed." in text
