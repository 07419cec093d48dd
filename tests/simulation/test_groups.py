"""Values by group: who is in one, what a user moves, what is proved of it, and whether what is said of it holds."""

from __future__ import annotations

import io
import itertools
import json
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dprl
from dprl import UploadSpec
from dprl.mdp import TabularMDP, planning
from dprl.mdp.counts import transitions, visits
from dprl.simulation.uploads import check
from dprl.simulation.uploads.declaration import declaration, declaration_text
from dprl.simulation.uploads.ledger import together
from dprl.simulation.uploads.noise import SAID, noise_of
from dprl.simulation.uploads.prepare import Counted, counted
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.spec import NOWHERE
from dprl.simulation.uploads.trace import registry_entry
from tests.people import declared, played, record_of, released
from tests.problems import refused

HEADING = "who,episode,step,state,action,reward,place\n"
M = 2
PUBLIC: dict[str, Any] = {
    "states": ["a", "b"], "actions": ["x", "y"], "horizon": 1, "columns": {"person": "who"}, "episodes": M,
    "start": [0.5, 0.5],
}  # fmt: skip
GROUPED = PUBLIC | {"groups": {"place": ["north", "south", "other"]}}
OTHERS = ["ann,0,0,a,x,1,north", "bob,0,0,b,y,0,south", "bob,1,0,a,x,1,north", "cem,0,0,b,y,1,other"]


def count(lines: list[str], **changes: Any) -> Counted:
    text = (HEADING + "\n".join(lines) + "\n").encode()
    return counted(io.BytesIO(text), declaration(declaration_text(GROUPED | changes)), 1.0)


def numbers(lines: list[str], **changes: Any) -> list[int]:
    return [part.n for part in count(lines, **changes).held.groups]


def test_a_users_group_is_that_of_the_first_step_of_the_first_episode_whatever_others_do() -> None:
    assert numbers(OTHERS) == [1, 2, 1]
    assert numbers(OTHERS[::-1]) == [3, 0, 1]  # now this is the first of Bob's
    steps = ["d,5,1,b,x,1,south", "d,5,0,a,y,0,north", "d,4,0,a,x,0,south", "d,4,1,b,y,1,other"]
    assert numbers([*steps, "e,0,0,a,x,0,elsewhere", "e,0,1,a,y,0,north"], horizon=2) == [2, 0, 1]
    (told,) = count([*OTHERS, "e,0,0,a,x,0,elsewhere"]).outside.sentences()
    assert told.startswith("In 1 of 5 rows, column place has a label that you did not declare: elsewhere")
    assert numbers(OTHERS, groups={"state": ["b", "a"]}) == [3, 1]  # a column of the state
    rng, mine = np.random.default_rng(0), ["me,7,0,a,x,1,south", "me,8,0,b,y,0,north"]
    for _ in range(50):
        places = ["north", *rng.choice(["north", "south", "other", "nowhere", "7"], 3)]
        others = [line.rsplit(",", 1)[0] + f",{place}" for line, place in zip(OTHERS, places, strict=True)]
        others = [others[i] for i in rng.permutation(4)]
        first, last = sorted(rng.integers(0, 5, 2))
        lines = [*others[:first], mine[0], *others[first:last], mine[1], *others[last:]]
        assert np.subtract(numbers(lines), numbers(others)).tolist() == [0, 2, 0]


def test_one_user_moves_two_groups_by_what_is_declared_and_no_more() -> None:
    """Every pair of users that there can be, under scores that pull as far as they can."""
    policy, r, record = np.zeros((1, 2), dtype=np.int64), np.full((1, 2, 2), 0.5), np.zeros((1, 2, 2, 4))
    transitions(record)[...], visits(record)[...] = 20.0, 40.0
    table = check.scores(check.fit(record, policy, r, 1.0, 1.0, 160, 1.0, M), policy, r, learned=True)
    steps, files = [",".join(step) for step in itertools.product("ab", "xy", "01")], []
    for place, k in itertools.product(("north", "south"), range(1, M + 1)):
        for each in itertools.combinations_with_replacement(steps, k):
            mine = [f"me,{i},0,{step},{place}" for i, step in enumerate(each)]
            parts = count(OTHERS + mine).held.groups
            files.append([[float(x) for x in check.sums([table, table], part, M)] for part in parts])
    found = np.array(files)  # [files, groups, sums]
    families = {each.name: each.change for each in check.families(M, grouped=True)}
    for number, name in enumerate(check.WHAT):
        moved, change = np.abs(found[:, None] - found)[..., number], families[name + check.BY_GROUP]
        assert (moved > 0).sum(-1).max() <= change.moves[0][0]
        assert moved.max() <= change.moves[0][1] + 1e-9
        assert (moved**2).sum(-1).max() == pytest.approx(change.l2_squared)  # reached


@pytest.mark.parametrize("m", [1, 3])
def test_groups_spend_a_part_of_the_same_budget(m: int) -> None:
    texts = [declaration_text(given | {"episodes": m}) for given in (PUBLIC, GROUPED)]
    how: dict[str, Any] = {"data": NOWHERE, "n": 400, "rho": 0.5, "held_out": 0.25, "checked": 100}
    plain, spec = (UploadSpec(declared=text, **how) for text in texts)
    (before, _), (noise, _) = noise_of(plain), noise_of(spec)
    of_all = sum(((m - (name == "episodes")) / noise.scales[name]) ** 2 / 2 for name in check.names(m))
    by_group = sum(2 * (m / noise.scales[name + " by group"]) ** 2 / 2 for name in check.WHAT)
    assert 0.4999 < of_all + by_group <= 0.5
    assert by_group / (of_all + by_group) == pytest.approx(check.share_of_groups(m))
    assert 1 < noise.scales["scores"] / before.scales["scores"] <= 1.25
    assert noise.scales["transitions"] == before.scales["transitions"]
    assert together(draws_of(spec)).rho == pytest.approx(0.5, rel=1e-4)
    assert [SAID["groups"] in each.guarantee.assumptions for each in (before, noise)] == [False, True]


def test_without_groups_nothing_of_a_spec_or_a_release_changes() -> None:
    end = ',"groups":{"place":["north","south","other"]}}'
    assert declaration_text(GROUPED) == declaration_text(PUBLIC)[:-1] + end
    users = [
        f"p{i},0,0,{'ab'[i % 2]},{'xy'[i // 2 % 2]},1,{'south' if i % 5 else 'north'}" for i in range(600)
    ]
    for public in (PUBLIC, GROUPED):
        spec = dprl.upload(io.BytesIO((HEADING + "\n".join(users)).encode()), public, rho=1.0)
        seed = dprl.run(spec).seeds[0]
        held = json.loads(seed.release())["held_out"]["dp-plug-in"]
        assert ("groups" in held) == ("groups" in seed.checked) == (public is GROUPED)
        assert ("for each declared group" in registry_entry(seed)) == (public is GROUPED)
    assert held["groups' share of rho"] == check.share_of_groups(M)
    assert 60 < held["groups"]["south"]["episodes"][1] < 180
    nobody = held["groups"]["other"]
    assert (nobody["verdict"], nobody["difference"][::2]) == ("too close", [-1.0, 1.0])


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (
            {"place": ["a"]},
            "declared.groups: {'place': ['a']} is not allowed; give one column with 2 to 8 labels.",
        ),
        ({"place": [*"abcdefghi"]}, "declared.groups: {'place': ['a', 'b', "),
        ({"place": ["a", "b"], "age": ["c", "d"]}, "declared.groups: {'place': ['a', 'b'], 'age'"),
        ({"place": ["a", "b", "a"]}, "declared.groups: a appears twice; give distinct labels."),
        ({"age": ["a", "b"]}, "declared.groups: column age is read as numbers; give a column of labels."),
        ({"village": ["a", "b"]}, "data: row 1, column village: this column is missing."),
        ({"action": ["x", "y"]}, "data: row 1, column action: this column is declared for two purposes;"),
    ],
)
def test_what_cannot_be_declared_is_refused(groups: dict[str, Any], said: str) -> None:
    states = {"states": {"state": ["a", "b"], "age": [40]}, "start": [0.25] * 4} if "age" in groups else {}
    with refused(said):
        count(OTHERS, groups=groups, **states)


@pytest.mark.parametrize("worse", [False, True])
def test_intervals_by_group_hold_at_once(worse: bool) -> None:
    """Two groups begin and are treated differently; a policy is better for both, or for one alone. The chance that this
    fails although the intervals hold with 95% is 1e-9."""
    rng, seeds, verdicts = np.random.default_rng(4), 30, []
    P = np.stack([0.7 * np.eye(4)[s] + 0.3 * rng.dirichlet(np.ones(4), 2) for s in range(4)])
    R = np.array([[0.2, 0.9]] * 2 + [[0.2, 0.8]] * 2)
    starts, ways = np.repeat(np.eye(2) / 2, 2, axis=1), [np.full((4, 4, 2), [1 - p, p]) for p in (0.3, 0.6)]
    model = TabularMDP("", np.stack([P] * 4), np.stack([R] * 4), starts.mean(0), tuple("abcd"), tuple("xy"))
    public = json.loads(declared(model, False)) | {"groups": {"place": ["a", "b"]}}
    how: dict[str, Any] = {"data": NOWHERE, "n": 20_000, "rho": 1.0, "held_out": 0.25, "checked": 5000}
    spec, missed = UploadSpec(declared=declaration_text(public), **how), np.zeros(4)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        some, others = (
            [
                played(model, np.tile(b, (k, 1)), np.stack([way] * k), rng)
                for b, way in zip(starts, ways, strict=True)
            ]
            for k in (7500, 2500)
        )
        record = np.sum([record_of(model, each) for each in some], 0)
        policy = np.tile([1, 1, 0, 0], (4, 1)) if worse else None
        one = released(spec, model, record, *others, rng=rng, policy=policy)
        learned = starts @ planning.policy_values(model, one.policy)[0]
        now = [begun @ planning.policy_values(model, way)[0] for begun, way in zip(starts, ways, strict=True)]
        truth = np.stack([learned, now, learned - now, [2500, 2500]], axis=1)
        low, _, high = np.moveaxis(one.checked["groups"], -1, 0)
        missed += ((truth < low) | (truth > high)).any(0)
        verdicts.append(tuple(check.verdict(each[2]) for each in one.checked["groups"]))
    assert (missed <= binom.isf(1e-9 / 4, seeds, 0.05)).all()
    assert verdicts.count(("better", "worse" if worse else "better")) > seeds / 2
