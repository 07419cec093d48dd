"""People held out: what is released of them, what it proves, and whether what is said of it holds.

And the file of a learned policy: applied as it was learned, with its evidence, and refused where it was changed.
"""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dprl
from dprl import Policy, SpecError, UploadSpec, upload
from dprl.environments import ENVIRONMENTS
from dprl.mdp import TabularMDP
from dprl.mdp.counts import transitions, visits
from dprl.privacy.accounting import gaussian_delta, gaussian_epsilon
from dprl.privacy.exact import BITS
from dprl.research.sheet import sheet
from dprl.sentences import verdict as sentences
from dprl.simulation import UploadTrace, datasets
from dprl.simulation.loops.offline import learned_from
from dprl.simulation.uploads import check, kept
from dprl.simulation.uploads.declaration import declaration
from dprl.simulation.uploads.noise import noise_of, upload_problem_of
from dprl.simulation.uploads.run import fitted_to
from dprl.simulation.uploads.spec import NOWHERE
from dprl.simulation.uploads.trace import registry_entry
from tests.people import Again, declared, outcome, treated, written_down
from tests.problems import few, refused

# 8 states, 3 actions, 10 steps
WARD = ENVIRONMENTS["random"].make(S=8, A=3, H=10, seed=3, concentration=5.0)
BEHAVIOUR = "mixture:0.33"


def given(model: TabularMDP, n: int, known: bool = True, seed: int = 0, **fields: Any) -> UploadSpec:
    people = treated(model, BEHAVIOUR, n, np.random.default_rng(seed))
    return upload(io.BytesIO(written_down(people).encode()), declared(model, known), **fields)


@pytest.fixture(scope="module")
def people() -> bytes:
    return written_down(treated(WARD, BEHAVIOUR, 20_000, np.random.default_rng(1))).encode()


@pytest.mark.parametrize(
    ("cautious", "plug_in", "recommended"),
    [
        ((0.1, 1.0, 2.0), (-0.1, 1.5, 3.0), 0),
        ((0.1, 1.0, 2.0), (0.05, 1.5, 3.0), 1),
        ((-0.1, 1.0, 2.0), (-0.2, 1.5, 3.0), 1),
        ((-2.0, -1.0, -0.5), (-0.2, 1.5, 3.0), 1),
        ((0.1, 1.0, 2.0), (-3.0, -2.0, -1.0), 0),
    ],
)
def test_the_plug_in_policy_is_recommended_unless_only_the_other_is_better(
    cautious: tuple[float, ...], plug_in: tuple[float, ...], recommended: int
) -> None:
    assert check.recommended(np.array([cautious, plug_in])) == recommended


def test_nobody_is_learned_from_and_held_out(people: bytes) -> None:
    spec = upload(io.BytesIO(people), declared(WARD, known=True), held_out=0.1)
    held = kept.held(spec.data)
    of_all = visits(held.record)[0].sum(), visits(held.held.record)[0].sum()
    assert of_all == (spec.learned_from, spec.checked)
    assert sum(of_all) == held.n == spec.n
    whole = upload(io.BytesIO(people), declared(WARD, known=True), held_out=0.0)
    everybody = kept.held(whole.data)
    np.testing.assert_array_equal(held.record + held.held.record, everybody.record)
    assert everybody.held.n == 0
    nobody = dprl.run(UploadSpec(data=whole.data, declared=spec.declared, n=spec.n, rho=1.0)).seeds[0]
    assert (nobody.verdict, nobody.today, sentences.said(nobody)) == ("", {}, [])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("rho", [0.1, 1.0])
def test_one_person_moves_each_sum_by_at_most_one(known: bool, rho: float) -> None:
    """Whatever they do, of whatever was released of the others: all trajectories that raise or lower a sum most."""
    model = ENVIRONMENTS["random"].make(S=3, A=2, H=4, seed=2)
    spec = given(model, 400, known, rho=rho)
    noise, errors = noise_of(spec)
    problem, data = replace(upload_problem_of(spec), errors=errors), kept.held(spec.data)
    rng, found, E = np.random.default_rng(0), [], next(iter(errors.values()))
    for _ in range(20):
        released = rng.normal(2 * E, E, data.record.shape)
        visits(released)[...] = transitions(released).sum(-1)
        answers = (released, rng.normal(0, 30, released.shape[:3]))
        policy = learned_from(Again(*answers), spec.learner.plan(problem))[0].policy
        _, table = fitted_to(problem, policy, answers, noise)
        assert table.width > 0
        ends = []
        for best in (1, -1):  # the trajectory of the highest score, and that of the lowest
            gain = best * table.next + np.maximum(best * table.reward, 0)[..., None]
            record = np.zeros_like(data.record)
            for h in range(4):
                s, a, x = np.unravel_index(gain[h].argmax(), gain[h].shape)
                record[h, s, a, x] = record[h, s, a, -2] = 1
                record[h, s, a, -1] = best > 0
            ends.append(check.summed(table, check.HeldOut(record, 1, np.zeros(2))))
        high, low = ends
        assert 0 <= low <= high <= 1
        found.append(high - low)
    assert max(found) == 1  # what the noise is made for is reached


def test_neighbours_in_one_person_are_told_apart_no_better_than_is_proved() -> None:
    """A likelihood-ratio attack on what is drawn of two worlds that differ in one person held out, as much as they can.
    Beside it, what the noise proves, by a second way."""
    spec = given(ENVIRONMENTS["random"].make(S=3, A=2, H=4, seed=2), 400, rho=0.5)
    noise, _ = noise_of(spec)
    scales = np.array([noise.scales[name] for name in check.SUMS])
    spent = float((1 / (2 * scales**2)).sum())
    assert 0.49995 < spent <= 0.5
    assert noise.guarantee.proved_rho == pytest.approx(0.5, rel=1e-4)
    assert (noise.times["scores", 1], noise.times["transitions", 0]) == (1, 1)
    apart = math.sqrt((1 / scales**2).sum())
    assert (noise.guarantee.proved_epsilon or 0) >= gaussian_epsilon(apart, 1e-6) * (1 - 1e-6)
    trials = few(4000)
    worlds = [tuple(Fraction(each + more) for each in (30, 40, 20, 10)) for more in (0, 1)]
    drawn = [np.array([check.noisy(world, noise.scales) for _ in range(trials)]) for world in worlds]
    first, second = ((each / scales**2).sum(1) for each in drawn)
    for cut in np.quantile(first, (0.5, 0.8, 0.95)):
        miss, caught = (first > cut).mean(), (second > cut).mean()
        sure = caught - 4 * math.sqrt(caught * (1 - caught) / trials), miss + 4 * math.sqrt(miss / trials)
        for epsilon in (0.1, 0.5, 1.0, 2.0):
            assert sure[0] - math.exp(epsilon) * sure[1] <= gaussian_delta(apart, epsilon)
    half = first.mean() - second.mean()
    assert abs(half) == pytest.approx(apart**2, rel=0.2)  # the noise is there, and no more than that


def test_what_is_released_of_people_held_out_is_drawn_once_and_on_the_grid(people: bytes) -> None:
    spec = upload(io.BytesIO(people), declared(WARD, known=True), rho=0.5)
    first = dprl.run(spec).seeds[0].checked
    again = dprl.run(spec).seeds[0].checked
    assert all(np.array_equal(first[name], again[name]) for name in first)
    found = kept.drawn_sums(spec.data, f"held out: {spec.to_json()}")
    assert found is not None
    assert (found["sums"] * 2.0**BITS % 1 == 0).all()
    other = spec.replace(beta=0.2)  # another policy, maybe: asked about anew
    dprl.run(other)
    apart = kept.drawn_sums(spec.data, f"held out: {other.to_json()}")
    assert apart is not None
    assert (apart["sums"] != found["sums"]).all()
    kept.forget(spec.data)
    assert list(kept.folder().iterdir()) == []


def test_all_held_out_is_refused() -> None:
    model = ENVIRONMENTS["random"].make(S=2, A=2, H=2)
    with pytest.raises(SpecError, match="held_out"):
        given(model, 10, held_out=0.7)
    with pytest.raises(SpecError, match="checked: 5 of 5 people cannot be held out"):
        UploadSpec(data=NOWHERE, declared=declared(model, known=True), n=5, checked=5)


def test_a_constant_reward_shifts_all_that_is_said() -> None:
    """The interval is in the declared rewards."""
    model = ENVIRONMENTS["random"].make(S=2, A=2, H=3, seed=1)
    public = json.loads(declared(model, known=True))
    public |= {"reward_range": [-1, 3], "rewards": (4 * model.R - 1).tolist()}
    people = treated(model, "uniform", 3000, np.random.default_rng(0))
    text = written_down(people._replace(r=4 * people.r - 1))
    seed = dprl.run(upload(io.BytesIO(text.encode()), public, rho=100.0)).seeds[0]
    for policy in (0, 1):
        plain, said = {name: values[policy] for name, values in seed.checked.items()}, seed.intervals(policy)
        assert said["learned"] == pytest.approx(4 * plain["learned"] - 3)
        assert said["difference"] == pytest.approx(4 * plain["difference"])
    assert declaration(seed.spec.declared).size.H == 3


def test_a_row_of_few_people_is_worth_less_and_no_score_mends_that() -> None:
    """One state, one step: less by the deviation of its mean, times what the largest of two errors is on average."""
    released = np.zeros((1, 1, 2, 3))
    transitions(released)[0, 0, :, 0] = visits(released)[0, 0] = (30.0, 400.0)
    r, E, n = np.full((1, 1, 2), 0.5), 20.0, 430.0
    for action, sure in ((0, False), (1, True)):
        fitted = check.fit(released, np.array([[action]]), r, E, 16.0, n, 25.0)
        seen = visits(released)[0, 0, action]
        noise = 16.0 * 0.5**2 + 25.0  # of counts, by which is divided, and of sums of rewards
        error = (noise + seen / 4) / seen**2
        less = 0.0 if sure else math.sqrt(2 * math.log(2) * error)
        assert fitted.V[0, 0] == pytest.approx(0.5 - less)
        assert fitted.lost == pytest.approx(2 * less)
        assert fitted.w[0, 0] == pytest.approx(n / seen if sure else 0.0)
        assert fitted.covered == pytest.approx(1.0)
        assert fitted.spread == pytest.approx(error * ((16.0 + seen) / seen**2 if sure else 1.0))
    sharp = check.fit(released, np.array([[0]]), r, 10.0, 16.0, n, 25.0)
    assert sharp.w[0, 0] == 0  # a weight of 14, where 8 is the most
    assert check.fit(released, np.array([[0]]), r, 10.0, 16.0, 200.0, 25.0).w[0, 0] == pytest.approx(200 / 30)


@pytest.mark.thorough
def test_the_interval_holds_where_the_policy_chose_what_hardly_anybody_did() -> None:
    """Most people are treated best, and noise favours other actions: intervals once held in half of the data sets."""
    model = ENVIRONMENTS["random"].make(S=7, A=3, H=4, concentration=1.0, seed=5006)
    given: dict[str, Any] = {"n": 20_000, "rho": 0.1, "held_out": 0.25, "checked": 5000}
    spec = UploadSpec(data=NOWHERE, declared=declared(model, False), **given)
    found = [outcome(spec, model, "epsilon-optimal:0.15", seed) for seed in range(60)]
    held = [one.checked["learned"][0] <= one.worth <= one.checked["learned"][2] for one in found]
    assert np.mean(held) > 0.87


@pytest.mark.thorough
def test_verdicts_are_wrong_as_seldom_as_is_said() -> None:
    """In random models that nothing was tuned on."""
    wrong = hits = total = 0
    for i in range(10):
        model = ENVIRONMENTS["random"].make(S=3 + i % 4, A=2 + i % 2, H=4 + i % 3, seed=900 + i)
        behaviour = ("uniform", "mixture:0.7", "epsilon-optimal:0.1")[i % 3]
        spec = UploadSpec(
            data=NOWHERE, declared=declared(model, i % 2 == 0), n=8000, rho=0.3, held_out=0.25, checked=2000
        )
        now = float((datasets.occupancy(model, datasets.parts(behaviour, model)) * model.R).sum())
        for seed in range(20):
            one = outcome(spec, model, behaviour, seed)
            low, _, high = one.checked["difference"]
            gain = one.worth - now
            hits, total = hits + (low <= gain <= high), total + 1
            wrong += (low > 0 and gain <= 0) or (high < 0 and gain >= 0)
            assert one.bound <= one.cautious + 1e-9
    assert wrong <= 0.05 * total
    assert hits >= 0.92 * total


PUBLIC: dict[str, Any] = {
    "states": ["mild", "sévère, deux"], "actions": ["wait", "treat"], "horizon": 2, "rewards": [[0, 0], [1, 1]],
    "start": "mild",
}  # fmt: skip
# treatment leads from mild to severe, where reward is; nobody treats there
CSV = "episode,step,state,action,reward,next_state\n" + "".join(
    f"{who},0,mild,{('wait', 'treat')[who % 2]},0,{x}\n{who},1,{x},wait,{who % 2},mild\n"
    for who in range(400)
    for x in (("mild", '"sévère, deux"')[who % 2],)
)


@pytest.fixture
def trace() -> UploadTrace:
    spec = dprl.upload(io.BytesIO(CSV.encode()), PUBLIC, rho=50.0)
    found: UploadTrace = dprl.run(spec).seeds[0]
    return found


def test_a_file_acts_as_it_was_learned_and_leaves_the_rest_to_somebody_else(
    trace: UploadTrace, tmp_path: Path
) -> None:
    path = tmp_path / "policy.json"
    path.write_text(trace.portable.to_json(), encoding="utf-8")
    policy = Policy.load(path)
    assert policy.act("mild", 0) == "treat"
    assert policy.act("mild", 1) == "wait"
    assert policy.act("sévère, deux", 1) == "wait"
    assert policy.act("sévère, deux", 0) is None  # nobody began there
    assert Policy.load(path.read_text(encoding="utf-8")).to_json() == policy.to_json()
    assert policy.to_json() == trace.portable.to_json()
    action = int(trace.policy[0, 0])
    assert policy.people[0][0] == pytest.approx(visits(trace.released)[0, 0, action], abs=0.05)
    about = policy.about
    assert about["bound"]["worth at least"] == trace.curve.values[0]
    assert about["bound"]["of"] == "dp-kl-lcb"
    assert about["privacy"]["rho"] == trace.guarantee.proved_rho
    assert about["held out"]["verdict"] == trace.verdict
    assert about["versions"]["dprl"] == dprl.__version__
    assert about["declared"]["horizon"] == 2
    assert trace.spec.data not in policy.to_json()
    table = pd.read_csv(io.StringIO(trace.portable.csv_text()))
    assert list(table.columns) == ["step", "state", "action", "episodes_with_noise", "decides"]
    assert table["decides"].tolist() == ["policy", "somebody decides", "policy", "policy"]
    # nobody reads an action where none is meant
    assert table["action"].isna().tolist() == [False, True, False, False]


def test_the_bound_holds_whoever_decides() -> None:
    """Everybody gets the usual care, and it brings nothing; the new one is declared to bring 1. Before, the file left
    every cell to a clinician, and promised the 2 that two new ones would bring."""
    rows = [
        f"{who},{h},{state},usual,0,{x}"
        for who in range(400)
        for h, state, x in ((0, "a", "ab"[who % 2]), (1, "ab"[who % 2], "a"))
    ]
    text = "\n".join(["episode,step,state,action,reward,next_state", *rows])
    public = PUBLIC | {"states": [*"ab"], "actions": ["usual", "new"], "rewards": [[0, 1]] * 2, "start": "a"}
    spec = dprl.upload(io.BytesIO(text.encode()), public, rho=1.0, held_out=0.25)
    seed = dprl.run(spec).seeds[0]
    policy = Policy.load(seed.portable.to_json())
    assert not any(any(row) for row in policy.enough)
    bound = policy.about["bound"]
    assert (bound["worth at least"], bound["except with a chance of"]) == (0.0, 0.1)
    assert bound["for the best of k releases"] == "k times that chance"
    assert bound["where evidence is lacking"] == "whatever is decided there"


def test_only_a_state_that_is_called_ended_is_left_out_of_what_is_handed_over() -> None:
    """Users may be in any other state that shorter episodes go on in, and then the policy says what they get."""
    for absorbing, left in (("ended", ["mild"]), ("cured", ["cured", "mild"]), (None, ["ended", "mild"])):
        states = (absorbing or "ended", "mild")
        about = {"declared": {"absorbing": absorbing} if absorbing else {}}
        policy = Policy(states, ("watch",), (("watch",) * 2,), ((5.0,) * 2,), ((True,) * 2,), about)
        assert pd.read_csv(io.StringIO(policy.csv_text()))["state"].tolist() == left
        assert policy.act(states[0], step=0) == "watch"


def test_an_unknown_state_or_step_is_answered_in_a_sentence(trace: UploadTrace) -> None:
    policy = trace.portable
    for state, step, field in (("well", 0, "state"), *(("mild", step, "step") for step in (2, -1, True))):
        with refused(f"{field}: "):
            policy.act(state, step)


def test_a_file_that_was_changed_is_refused(trace: UploadTrace, tmp_path: Path) -> None:
    text = trace.portable.to_json()
    for wrong, said in (
        (text.replace('"treat"', '"wait"', 2), "has been changed since it was written"),
        ("{}", "is not a file of the format dprl policy 2"),
        ("{", "this is not JSON"),
        (json.dumps(json.loads(text) | {"more": 1}), "is not a file of the format"),
        (str(tmp_path / "none.json"), "cannot be read; give the path of a policy.json"),
    ):
        with pytest.raises(SpecError, match=said):
            Policy.load(wrong)


def test_steps_are_numbered_as_in_the_file() -> None:
    """From 1, in each file that leaves: before, `act` was one step late and nothing said so."""
    heading, *rows = CSV.splitlines()
    later = [re.sub(r"^(\d+),(\d)", lambda found: f"{found[1]},{int(found[2]) + 1}", row) for row in rows]
    spec = dprl.upload(io.StringIO("\n".join([heading, *later])), PUBLIC, rho=50.0)
    assert spec.first_step == 1
    seed = dprl.run(spec).seeds[0]
    policy = Policy.load(seed.portable.to_json())
    assert [policy.act("mild", step) for step in (1, 2)] == ["treat", "wait"]
    with pytest.raises(SpecError, match=r"step: 0 is not allowed; give 1 to 2"):
        policy.act("mild", 0)
    assert pd.read_csv(io.StringIO(seed.portable.csv_text()))["step"].unique().tolist() == [1, 2]
    page = sheet(policy)
    assert "Step 1 is the first step of an episode." in page
    assert "<th>Step 2</th>" in page
    assert "Step 0" not in page


# The keys of the registry's template, at commit 057e5d8.
REGISTRY = {
    "basic": "name data_curators description intended_use data_product_type data_product_region data_product_sector "
    "publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters "
    "privacy_parameters_details",
    "deployment_model": "model_name model_name_details trust_assumptions actors release_type release_type_details "
    "data_source_type data_source_type_details access_type access_type_details",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification "
    "utility additional_information",
    "administrative": "evidence_sources status registry_authors tier",
}


def test_the_registry_entry_has_the_keys_of_the_template_and_what_is_proved(trace: UploadTrace) -> None:
    entry = json.loads(registry_entry(trace))
    assert set(entry) == {"url_slug", "deployment"}
    assert {name: set(part) for name, part in entry["deployment"].items()} == {
        name: set(keys.split()) for name, keys in REGISTRY.items()
    }
    loss = entry["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"rho": trace.guarantee.proved_rho}
    assert loss["privacy_unit"] == trace.guarantee.unit
    assert trace.portable.digest in entry["deployment"]["implementation"]["additional_information"]
    assert trace.spec.data not in json.dumps(entry)


def test_a_verdict_counts_the_releases_that_it_was_chosen_among(trace: UploadTrace) -> None:
    assert trace.verdict == "better"
    assert "wrong is at most about 2.5%." in sentences.said(trace)[0]
    assert "from 3 releases, the chance that it is wrong is at most about 7.5%" in sentences.said(trace, 3)[0]
