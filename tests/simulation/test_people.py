"""Several episodes of one person: which count, what a person moves, what is proved of it, and what is said.

And a start that nobody declares is estimated from the release: the bound holds in spite of it.
"""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dprl
from dprl import SpecError, UploadSpec
from dprl.environments import ENVIRONMENTS
from dprl.learners.offline import kl_lcb
from dprl.learners.offline.learner import OfflineProblem
from dprl.mdp import Size, planning
from dprl.mdp.counts import visits
from dprl.mdp.tabular import Array
from dprl.privacy.accounting import gaussian_delta, gaussian_epsilon, zcdp_of
from dprl.simulation.uploads import check, kept
from dprl.simulation.uploads.declaration import declaration, declaration_text
from dprl.simulation.uploads.ledger import together
from dprl.simulation.uploads.noise import SAID, START_SHARE, bound_from_start, noise_of
from dprl.simulation.uploads.prepare import Counted, counted
from dprl.simulation.uploads.run import drawn, draws_of, sums_of
from dprl.simulation.uploads.spec import NOWHERE
from dprl.statistics import BLANK_ONE, REPLACE_ONE, REWARDS, TRANSITIONS
from tests.people import MOST_OF_ONE, declared, outcome_of_returning, returning
from tests.problems import few, first

HEADING = "who,episode,step,state,action,reward\n"
M = 3
PUBLIC: dict[str, Any] = {
    "states": ["a", "b"], "actions": ["x", "y"], "horizon": 2, "columns": {"person": "who"}, "episodes": M,
    "absorbing": "b", "start": [0.5, 0.5],
}  # fmt: skip
STEPS = [f"{s},{a},{r}" for s in "ab" for a in "xy" for r in (0, 1)]


def rows(person: str, episodes: list[list[str]]) -> list[str]:
    return [
        f"{person},{label},{h},{step}" for label, steps in enumerate(episodes) for h, step in enumerate(steps)
    ]


def file(lines: list[str]) -> io.BytesIO:
    return io.BytesIO((HEADING + "\n".join(lines) + "\n").encode())


def count(lines: list[str], held_out: float = 0.0, **changes: Any) -> Counted:
    return counted(file(lines), declaration(declaration_text(PUBLIC | changes)), held_out)


OTHERS = rows("ann", [["a,x,0", "b,y,1"], ["b,x,1"]]) + rows("bob", [["a,y,1", "a,x,0"]])


def test_one_episode_of_each_person_needs_users_who_are_independent() -> None:
    """The bound is that of a fixed number of visits, which an order of time alone would not give."""
    for episodes, independent in ((1, True), (3, False)):
        public = declaration_text(PUBLIC | {"episodes": episodes})
        spec = UploadSpec(data=NOWHERE, declared=public, n=1000)
        said = noise_of(spec)[0].guarantee.assumptions
        assert (SAID["independent"] in said) == independent
        assert (SAID["in_order"] in said) == (not independent)
        assert SAID["declared_people"] in said
        assert SAID["first_episodes"] in said
        assert len(said) == len(set(said))


def test_of_each_person_the_first_episodes_count() -> None:
    many = rows("cem", [["a,x,1", "b,x,1"], ["a,y,0"], ["b,y,1", "a,y,0"], ["a,x,1"], ["b,x,0"]])
    found = count(OTHERS + many)
    assert (found.n, visits(found.record)[0].sum()) == (3, 3 + M)
    np.testing.assert_array_equal(found.record, count(OTHERS + many[:5]).record)
    told = "2 of 8 episodes come after their user's first 3, so they do not count."
    assert told in found.outside.sentences()
    # rows of other people between them, and rows of an episode out of order, change nothing
    mixed = count([*many[1:4], *OTHERS, many[0], *many[4:]])
    np.testing.assert_array_equal(mixed.record, found.record)
    first = count(OTHERS + many, episodes=1)
    assert visits(first.record)[0].sum() == first.n == 3


def test_what_is_in_episodes_does_not_say_which_count() -> None:
    rng = np.random.default_rng(0)
    begun = rows("cem", [["a,x,1", "b,x,1"], ["a,y,0"], ["b,y,1"]])
    whole = count(OTHERS + begun)
    for _ in range(30):
        later = [
            [str(rng.choice(STEPS)) for _ in range(rng.integers(1, 3))] for _ in range(rng.integers(1, 4))
        ]
        more = [f"cem,{10 + int(line.split(',')[1])},{line.split(',', 2)[2]}" for line in rows("cem", later)]
        np.testing.assert_array_equal(count(OTHERS + begun + more).record, whole.record)


def test_labels_may_be_the_same_of_two_people() -> None:
    found = count(["ann,1,0,a,x,0", "bob,1,0,b,x,0", "ann,1,1,b,x,0", "bob,1,1,b,x,0"])
    assert (found.n, visits(found.record)[0].sum()) == (2, 2)
    with pytest.raises(SpecError, match="row 4, column step: step 0 of episode 1 of ann is in row 2 already"):
        count(["ann,1,0,a,x,0", "bob,1,0,b,x,0", "ann,1,0,b,x,0"])


def everybody(H: int, m: int) -> list[list[str]]:
    """All that a person with one to m episodes of H steps can have in the file, each as rows."""
    ways = [list(steps) for steps in itertools.product(STEPS, repeat=H)]
    found = []
    for k in range(1, m + 1):
        found += [rows("me", list(each)) for each in itertools.combinations_with_replacement(ways, k)]
    return found


@pytest.mark.parametrize(
    ("H", "m"), first([(1, 1), (2, 1), (1, 2), (1, 3), (2, 2)], lambda size: size[1] > 1)
)
def test_one_person_moves_what_is_declared_and_no_more(H: int, m: int) -> None:
    """Every pair of people that there can be, which differ in all their episodes; and nobody reaches further."""
    public = {"horizon": H, "episodes": m}
    others = OTHERS[:H] + rows("eve", [["a,x,0"] * H])
    records = np.array([count(others + each, **public).record for each in everybody(H, m)])
    size = declaration(declaration_text(PUBLIC | public)).size
    for query, at in ((TRANSITIONS, slice(0, 2)), (REWARDS, slice(-1, None))):
        change = query.sensitivity(size, REPLACE_ONE).at_once(m)
        cells = records[..., at].reshape(len(records), -1)
        l1 = l2 = 0.0
        for one in cells:
            moved = np.abs(cells - one)
            l1, l2 = max(l1, moved.sum(1).max()), max(l2, (moved**2).sum(1).max())
        assert (l1, l2) == (change.l1, change.l2_squared) == (2 * H * m, 2 * H * m**2)
        gone = query.sensitivity(size, BLANK_ONE).at_once(m)
        empty = count(others, **public).record[..., at].reshape(-1)
        assert np.abs(cells - empty).sum(1).max() == gone.l1


def test_noise_is_for_all_episodes_of_a_person() -> None:
    """m times the noise for the same rho, by a second way; the card and the files say what is protected."""
    how: dict[str, Any] = {"rho": 0.5, "held_out": 0.0, "tell": print}
    lines = OTHERS + rows("cem", [["a,x,1", "b,x,1"]] * M)
    specs = [dprl.upload(file(lines), PUBLIC | {"episodes": m}, **how) for m in (1, M)]
    one, several = (noise_of(spec)[0] for spec in specs)
    assert several.scales["transitions"] == pytest.approx(M * one.scales["transitions"], rel=1e-5)
    H, size = 2, several.scales
    spent = 2 * H * M**2 * (1 / size["transitions"] ** 2 + 1 / size["rewards"] ** 2) / 2
    assert 0.49995 < spent <= 0.5
    (losses,) = several.losses
    assert zcdp_of(losses) == pytest.approx(spent)
    card = several.guarantee
    assert card.unit == "one user, up to 3 episodes"
    assert card.adjacency == "replace one user, up to 3 episodes, by another"
    assert (card.proved_epsilon or 0.0) >= gaussian_epsilon(
        float(np.sqrt(2 * spent)), card.proved_delta or 0.0
    )
    assert card.returning is None
    assert together(draws_of(specs[1])).rho == pytest.approx(0.5, rel=1e-4)
    seed = dprl.run(specs[1]).seeds[0]
    assert json.loads(seed.release())["protects"] == card.unit
    about = dprl.Policy.load(seed.portable.to_json()).about
    assert about["privacy"]["unit"] == card.unit
    assert about["a number of people counts"] == "episodes"


@pytest.mark.thorough
def test_people_who_differ_in_all_episodes_are_told_apart_no_better_than_is_proved() -> None:
    """A likelihood-ratio attack on two files reaches the proof; noise for one episode is too little."""
    files = [OTHERS + rows("me", [steps] * M) for steps in (["a,x,1", "a,x,1"], ["b,y,1", "b,y,1"])]
    how: dict[str, Any] = {"rho": 0.5, "held_out": 0.0, "tell": print}
    spec, *worlds = [dprl.upload(file(lines), PUBLIC, **how) for lines in (files[0], *files)]
    noise, _ = noise_of(spec)
    records = [kept.held(world.data) for world in worlds]
    sums = [
        np.concatenate([TRANSITIONS.sums(each.record).ravel(), REWARDS.sums(each.record).ravel()])
        for each in records
    ]
    scales = np.repeat([noise.scales[query.family] for query in (TRANSITIONS, REWARDS)], [16, 8])
    weights = (sums[1] - sums[0]) / scales**2
    apart = float(np.sqrt(((sums[1] - sums[0]) ** 2 / scales**2).sum()))
    assert apart**2 / 2 == pytest.approx(0.5, rel=1e-4)  # nobody reaches further
    trials = few(1600)
    for times, held in ((1.0, True), (1.0 / M, False)):
        less = replace(noise, scales={name: times * scale for name, scale in noise.scales.items()})
        first, second = (
            np.array(
                [np.array(list(drawn(sums_of(each.record, less), less))) @ weights for _ in range(trials)]
            )
            for each in records
        )
        cut = np.quantile(first, 0.9)
        miss, caught = (first > cut).mean(), (second > cut).mean()
        sure = caught - 4 * np.sqrt(caught * (1 - caught) / trials), miss + 4 * np.sqrt(miss / trials)
        below = [sure[0] - np.exp(e) * sure[1] <= gaussian_delta(apart, e) for e in (0.1, 0.5, 1.0)]
        assert all(below) == held
        assert second.mean() - first.mean() == pytest.approx(
            apart**2, abs=6 * times * apart / np.sqrt(trials)
        )


def test_one_person_is_learned_from_or_held_out_with_all_episodes() -> None:
    lines = [line for i in range(300) for line in rows(f"p{i}", [["a,x,1", "b,x,1"]] * (1 + i % 4))]
    found = count(lines, 0.3)
    assert 50 < found.checked < 130
    assert found.n == 300
    assert found.held.n == visits(found.held.record)[0].sum() > found.checked
    assert found.held.n + visits(found.record)[0].sum() == 75 * (1 + 2 + 3 + 3)
    assert found.held.returns[0] == found.held.n  # each has the most that there is
    for _ in range(20):  # all of somebody's episodes, or none
        mine = count(rows("me", [["a,y,1", "b,y,1"]] * M) + OTHERS[-2:], 0.5).held
        assert visits(mine.record)[1, 1, 1] in (0, M)


@pytest.mark.thorough
def test_one_person_held_out_moves_each_sum_by_what_is_declared() -> None:
    """Every person with up to 3 episodes of one step, under scores that pull as far as they can."""
    policy, r = np.zeros((1, 2), dtype=np.int64), np.full((1, 2, 2), 0.5)
    released = np.full((1, 2, 2, 4), 20.0)
    visits(released)[...] = 40.0
    fitted = check.fit(released, policy, r, 1.0, 1.0, 160, 1.0, M)
    table = check.scores(fitted, policy, r, learned=True)
    people = everybody(1, M)
    held = [count(OTHERS[:1] + each, 1.0, horizon=1).held for each in people]
    found = np.array([[float(value) for value in check.sums([table, table], each, M)] for each in held])
    moved = {name: found[:, i].max() - found[:, i].min() for i, name in enumerate(check.names(M))}
    assert moved == pytest.approx(
        {"scores": M, "plug_in_scores": M, "returns": M, "squares": M, "episodes": M - 1}
    )
    for family in check.families(M):
        assert moved[family.name] <= family.change.moves[0][1] + 1e-9
    assert [family.change.moves for family in check.families(1)] == [((1, 1.0),)] * 4


def walk(rng: np.random.Generator, p: Array, chance: float, stop: int) -> tuple[bool, bool]:
    """Whether n KL(P^, P) comes above its bound at any n up to `stop`, and above ln(1/chance) alone."""
    rewards = np.zeros((1, len(p), 1))  # S rows share beta: each event has chance
    problem = OfflineProblem(Size(len(p), 1, 1), 1, chance * len(p), {}, rewards, episodes=2)
    drawn = np.eye(len(p))[rng.choice(len(p), stop, p=p)].cumsum(0)
    n = np.arange(1, stop + 1)
    share = drawn / n[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = n * np.where(share > 0, share * np.log(share / p), 0.0).sum(1)
    bound = kl_lcb.at_all_times(problem, n.astype(float), len(p) - 1)
    return bool((kl > bound).any()), bool((kl > -np.log(chance)).any())


def test_the_bound_for_several_episodes_holds_whenever_one_stops() -> None:
    """n KL stays below L(n) at every n at once, but for the chance of the event; L(n)/n falls."""
    rng, chance, trials = np.random.default_rng(3), 0.1, 500
    for p in (np.array([0.5, 0.5]), np.array([0.02, 0.08, 0.9]), np.full(6, 1 / 6)):
        above, without = np.array([walk(rng, p, chance, 300) for _ in range(trials)]).mean(0)
        assert above <= chance
        assert without > chance  # L needs more than one test's share
    problem = OfflineProblem(Size(6, 2, 3), 1, 0.1, {}, np.zeros((3, 6, 2)), episodes=5)
    n = np.geomspace(1, 1e7, 200)
    for free in (1, 5):
        assert (np.diff(kl_lcb.at_all_times(problem, n, free) / n) < 0).all()


@pytest.mark.parametrize("known", [True, False])
def test_bound_and_intervals_hold_where_one_episode_leads_to_the_next(known: bool) -> None:
    """People come again because an episode went badly, and are then treated otherwise. V~ is
    below the value everywhere, and verdicts are not wrong."""
    model = ENVIRONMENTS["random"].make(S=3, A=2, H=4, seed=41)
    public = json.loads(declared(model, known)) | {"columns": {"person": "who"}, "episodes": MOST_OF_ONE}
    spec = UploadSpec(
        data=NOWHERE, declared=declaration_text(public), n=8000, rho=1.0, held_out=0.25, checked=2000
    )
    everybody, whose = returning(model, 50_000, np.random.default_rng(0))
    assert 1.2 < len(whose) / 50_000 < 2.5
    begun = np.bincount(everybody.s[:, 0], minlength=model.S) / len(whose)
    now = float(model.R[np.arange(model.H), everybody.s, everybody.a].sum(1).mean())
    hits = np.zeros(3)
    for seed in range(20):
        one = outcome_of_returning(spec, model, seed)
        V = planning.policy_values(model, one.learned.policy)
        assert (one.learned.V <= V + 1e-9).all()
        worth = float(begun @ V[0])
        truth = {"learned": worth, "behaviour": now, "difference": worth - now}
        ends = [(one.checked[name], value) for name, value in truth.items()]
        hits += [low - 1e-9 <= value <= high + 1e-9 for (low, _, high), value in ends]
        assert (check.verdict(one.checked["difference"]) == "better") <= (worth > now)
    assert (hits >= 17).all()


NO_START: dict[str, Any] = {
    "states": ["a", "b", "c", "d"], "actions": ["x"], "horizon": 1, "rewards": [[0], [0], [0], [1]],
}  # fmt: skip


def test_the_bound_holds_for_values_that_depend_on_people_and_noise() -> None:
    """At beta = 1 each event may fail in 5% of cases: W is the worst that an adversary could pick from the release."""
    size, n, beta, scale, rng = Size(4, 2, 1), 500, 1.0, 12.0, np.random.default_rng(0)
    S, A, H, _ = size
    failed, runs = 0, few(4000)
    for _ in range(runs):
        start = rng.dirichlet(np.ones(S))
        first = rng.multinomial(n, start)
        noise = scale * rng.standard_normal((S, A, S))
        record = np.zeros((H, S, A, S + 2))
        visits(record)[0] = noise.sum(-1)
        visits(record)[0, :, 0] += first
        seen = visits(record)[0].sum(-1)
        V = (seen > n * start).astype(float)  # high where the release shows too many
        failed += bound_from_start(V, record, size, n, beta, scale) > start @ V
    assert failed <= START_SHARE * beta * runs  # a union bound: in fact there are far fewer


def test_a_missing_start_is_not_taken_to_be_all_alike() -> None:
    """Almost nobody begins where the reward is: before, the bound said 0.25 for everybody."""
    rows = "".join(
        f"{i},0,{'d' if i % 100 == 0 else 'abc'[i % 3]},x,{int(i % 100 == 0)}\n" for i in range(4000)
    )
    text = "episode,step,state,action,reward\n" + rows
    spec = dprl.upload(io.StringIO(text), NO_START, rho=1.0, held_out=0.0)
    (seed,) = dprl.run(spec).seeds
    assert 0 <= seed.curve.values[0] <= 0.01
    assert seed.portable.about["bound"]["from"].startswith("the start distribution that the released counts")
    declared = dprl.upload(io.StringIO(text), NO_START | {"start": "d"}, rho=1.0, held_out=0.0)
    (seed,) = dprl.run(declared).seeds
    assert seed.curve.values[0] == pytest.approx(1.0, abs=0.2)  # which is what was declared


def test_where_it_cannot_be_estimated_it_is_needed() -> None:
    with pytest.raises(SpecError, match=r"declared.start: this is missing, and cannot be estimated"):
        dprl.upload(io.StringIO(""), NO_START | {"columns": {"person": "who"}, "episodes": 2})
