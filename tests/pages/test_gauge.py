"""The gauge above Run says, before running, whether a run will learn."""

from __future__ import annotations

from itertools import product

import pytest

from dprl.simulation import Outlook, RunSpec, outlook, run
from pages.shared.controls.gauge import LATEST, gauge_picture, gauge_verdict
from tests.pages.conftest import Visit, widget, words
from tests.problems import first

SPEC = RunSpec()


@pytest.mark.parametrize(
    ("learns_from", "head"),
    [
        (10**5, "It will learn:"),
        (10**8, "It will learn:"),
        (3 * 10**8, "It may learn by then:"),
        (10**9, "It may learn by then:"),
        (9 * 10**9, "It may learn by then:"),
        (2 * 10**10, "It will probably not learn by then:"),
        (None, "It will probably not learn."),
    ],
)
def test_states_are_told_apart(learns_from: int | None, head: str) -> None:
    said, icon, rest = gauge_verdict(Outlook(100.0, 1e8, learns_from), SPEC)
    assert said == head
    assert icon
    assert rest.endswith(".")
    sketch = gauge_picture(learns_from, SPEC.episodes, False)
    assert ("throughout" in sketch.alt) == (learns_from is None)
    assert "K is 1e9" in sketch.alt


def test_episodic_names_its_own_limit() -> None:
    spec = SPEC.replace(schedule="episodic", episodes=10**6, mechanism=None)
    assert "more than 1 million users" in gauge_verdict(Outlook(700.0, 4e5, None), spec)[2]


def test_a_bonus_that_takes_longer_than_its_noise_is_promised_nothing() -> None:
    """With DP-UCBVI's paper constants a run has not begun to learn by LATEST times the users that are said."""
    spec = RunSpec(privacy="central", bonus="paper", seeds=2)
    found = outlook(spec)
    assert found is not None
    assert found.learns_from is not None
    long = spec.replace(episodes=LATEST * found.learns_from)
    assert gauge_verdict(found, long)[0] == "Noise alone may let it learn:"
    trace = run(long)
    lost = trace.values.mean(0) / trace.at
    assert lost[-1] > 0.9 * lost.max()
    assert gauge_verdict(found, spec.replace(episodes=10**5))[0] == "It will probably not learn by then:"


def test_it_follows_the_controls(visit: Visit) -> None:
    app = visit("explore")
    found = outlook(SPEC)
    assert found is not None
    assert "It will learn:" in words(app)
    assert (
        f"Noise in each count: standard deviation {found.noise_std:.0f} visits after 1 billion users."
        in words(app)
    )
    widget(app, "text_input", "Episodes K, exact value").input("1e4").run()
    assert "It will probably not learn by then:" in words(app)
    widget(app, "selectbox", "Privacy model").select("local").run()
    assert "Noise in a count, at most: standard deviation" in words(app)
    widget(app, "selectbox", "Privacy model").select("none").run()
    assert "learn by then" not in words(app)  # nothing to weigh without noise


def test_noise_that_cannot_be_accounted_for_is_refused_before_it_runs(visit: Visit) -> None:
    app = visit("explore")
    widget(app, "selectbox", "Privacy model").select("shuffle").run()
    widget(app, "selectbox", "Noise").select("paper").run()
    widget(app, "text_input", "Privacy budget ε, exact value").input("0.01").run()
    assert "more random bits than can be accounted for" in words(app)
    assert app.button(key="run").disabled


RUNS = list(
    product(
        ("riverswim", "gridworld", "chain", "clinic", "hard-jdp", "random"),
        ("central", "shuffle", "local"),
        (1.0, 0.3, 3.0),
    )
)


@pytest.mark.parametrize(("environment", "privacy", "epsilon"), first(RUNS))
def test_learning_begins_by_so_many_times_what_is_said(
    environment: str, privacy: str, epsilon: float
) -> None:
    """Of all that is said to hold of 54 runs: an average episode has lost a tenth less than at worst before."""
    assert len(RUNS) == 54
    spec = RunSpec(environment=environment, privacy=privacy, epsilon=epsilon, seeds=2)
    found = outlook(spec)
    assert found is not None
    assert found.learns_from is not None
    trace = run(spec.replace(episodes=LATEST * found.learns_from))
    lost = trace.values.mean(0) / trace.at
    assert lost[-1] < 0.9 * lost.max()
