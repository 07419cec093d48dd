"""The file of a learned policy: applied as it was learned, with its evidence, and refused where it was changed."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dprl
from dprl import Policy, SpecError
from dprl.mdp.counts import visits
from dprl.research.sheet import sheet
from dprl.sentences import verdict
from dprl.simulation import UploadTrace
from dprl.simulation.uploads.trace import registry_entry
from tests.problems import refused

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
    assert "wrong is at most about 2.5%." in verdict.said(trace)[0]
    assert "from 3 releases, the chance that it is wrong is at most about 7.5%" in verdict.said(trace, 3)[0]
