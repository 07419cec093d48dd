"""The story above Home: who is told it, and that what it shows is what runs say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from bench import story as made
from dprl import run
from dprl.mdp.counts import visits
from dprl.messages import messages
from dprl.research.one_user import apart
from pages.home.state import story_content
from pages.shared.results.data import asset, path_of
from tests.pages.conftest import Visit, charts

RECOMPUTE = "it is not what runs say: run `python -m bench.bundled start`"


def stories(app: Any) -> int:
    """How many are on the page."""
    kinds = [block.proto.component_name for block in app.get("bidi_component")]
    return sum("start" in kind or "story" in kind for kind in kinds)


def test_who_comes_without_a_link_is_told_the_story_which_a_slider_or_a_reload_does_not_end(
    visit: Visit,
) -> None:
    app = visit()
    assert stories(app) == 1
    assert [header.value for header in app.header] == [messages("start")["home"]["title"]]
    assert len(charts(app)) == 1
    app.query_params["eps"] = "2"  # as the slider writes the address
    assert stories(app.run()) == 1
    app = visit(story="on", v="1", eps="2")
    assert stories(app) == 1
    assert not app.warning


@pytest.mark.parametrize("query", [{"eps": "1"}, {"v": "1"}, {"v": "2", "eps": "0.1"}, {"eps": "nonsense"}])
def test_a_link_to_home_opens_home(visit: Visit, query: dict[str, str]) -> None:
    app = visit(**query)
    assert stories(app) == len(app.header) == 0
    assert len(charts(app)) == 1


def test_what_is_sent_is_small() -> None:
    assert path_of("start").stat().st_size < 20_000
    assert len(json.dumps(story_content())) < 50_000


def test_noise_and_learning_of_the_story_are_of_a_run() -> None:
    kept = asset("start")
    trace = run(made.SPEC).seeds[0]
    assert kept["spec"] == made.SPEC.to_dict(), RECOMPUTE
    shown = apart(trace.detail_episodes, made.CROWD)
    learned, noise = kept["learning"], kept["noise"]
    assert learned["users"] == trace.detail_episodes[shown].tolist(), RECOMPUTE
    assert learned["policies"] == [made.digits(trace.policy[i]) for i in shown], RECOMPUTE
    average = np.interp(learned["users"], trace.episodes, trace.regret / trace.episodes) / trace.v_star
    assert learned["lost"] == pytest.approx(average.tolist(), rel=1e-3), RECOMPUTE
    first = noise["first"]
    assert noise["epsilons"][first] == made.SPEC.epsilon
    assert noise["std"][first] == pytest.approx(trace.guarantee.noise_std, rel=1e-3), RECOMPUTE
    far = (visits(trace.noisy) - visits(trace.counts))[shown, -1, -1, 1]
    drawn = np.array(noise["noisy"][first]) - np.array(noise["true"][first])
    assert np.abs(drawn - far).max() <= 1, RECOMPUTE


@pytest.mark.thorough
def test_the_whole_file_is_what_runs_say() -> None:
    assert json.loads(json.dumps(made.story())) == asset("start"), RECOMPUTE
