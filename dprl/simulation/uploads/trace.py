"""The results of a run on an uploaded data set: the released and learned values, and files to download."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array
from dprl.simulation.base import engine
from dprl.simulation.trace import TraceCore
from dprl.simulation.uploads import check
from dprl.simulation.uploads.policy import SOMEBODY, Policy
from dprl.simulation.uploads.spec import LEARNERS, UploadSpec

REGISTRY = tomllib.loads(Path(__file__).with_name("registry.toml").read_text("utf-8"))
ESTIMATED = "the start distribution that the released counts of the first step show, with its confidence"


@dataclass(frozen=True, eq=False, kw_only=True)
class UploadTrace(TraceCore[UploadSpec]):
    """The results of learning from an uploaded data set. All of them are computed from the noisy release.

    Two policies are learned from one release: the cautious one, whose value has a proved bound, and the plug-in policy.
    The curve's only point is the lower bound V~ on the cautious policy's value from the start, in the declared rewards.
    All other values are in units of the reward range, from 0 to 1 for each step. v_star is None.

    Attributes:
        lower: the same bound from each first state, in the declared rewards [S].
        errors: the E in use, by family, each [].
        policies: the cautious policy and the plug-in policy [2, H, S].
        always: the value of always taking each action, from the release alone [A].
        checked: the estimates from held-out people for both (see check.assessed), each [2, ...], if there are any.
        released: m~, n~ and, if rewards are learned, their noisy sums [H, S, A, S + 2], see mdp/counts.py.
        Q_hat, penalty, Q: [H, S, A], V: [H, S], of the cautious policy; see learner.Learned.
    """

    lower: Array
    errors: Mapping[str, Array]
    policies: NDArray[np.int16]
    always: Array
    checked: Mapping[str, Array]
    released: Array
    Q_hat: Array
    penalty: Array
    Q: Array
    V: Array

    @property
    def recommended(self) -> int:
        """Return 0 for the cautious policy (the only choice if nobody was held out), or 1 for the plug-in policy."""
        return check.recommended(self.checked["difference"]) if self.checked else 0

    @property
    def policy(self) -> NDArray[np.int16]:
        """Return the recommended policy's actions, [H, S]."""
        return np.asarray(self.policies[self.recommended])

    def release(self) -> str:
        """Return everything that was released and learned as JSON text, without the name of the stored counts."""
        spec, policy = self.spec, self.portable
        public = {
            "format": "dprl release 1",
            **{name: value for name, value in spec.to_dict().items() if name != "data"},
            "declared": json.loads(spec.declared),
            "lower": float(self.curve.values[0]),
            "lower_by_start": self.lower.tolist(),
            "recommended": LEARNERS[self.recommended],
            "policies": dict(zip(LEARNERS, self.policies.tolist(), strict=True)),
            "always": spec.public.in_units(self.always, spec.problem_size.H).tolist(),
            "verdict": self.verdict,
            "held_out": {key: self.held_out(i) for i, key in enumerate(LEARNERS) if self.checked},
            "released_counts": self.released.tolist(),
            "proved_rho": self.guarantee.proved_rho,
            "protects": self.guarantee.unit,
            "neighbours": self.guarantee.adjacency,
            "noise": f"{self.guarantee.mechanism}, {self.guarantee.noise_formula}",
            "versions": policy.about["versions"],
            "policy_digest": policy.digest,
        }
        return json.dumps(public)

    def intervals(self, policy: int, group: int | None = None) -> dict[str, Array]:
        """Return intervals for a policy's value ("learned"), today's value ("behaviour"), their difference and, for a
        group, its number of episodes. They are in units of the declared rewards. Return {} if nobody was held out."""
        if not self.checked:
            return {}
        public, H = self.spec.public, self.spec.problem_size.H
        found = {name: self.checked[name][policy] for name in check.OF_A_GROUP[:3]}
        if group is not None:
            found = dict(zip(check.OF_A_GROUP, self.checked["groups"][policy, group], strict=True))
        steps = {"learned": H, "behaviour": H, "difference": 0}  # the lowest reward cancels in a difference
        return found | {name: public.in_units(found[name], count) for name, count in steps.items()}

    @property
    def today(self) -> dict[str, Array]:
        """Return the recommended policy's intervals: its value, today's value, and their difference."""
        return self.intervals(self.recommended)

    @property
    def shares(self) -> dict[str, float]:
        """Return the recommended policy's `covered` and `follows` (see `check.Fitted`); {} if nobody was held out."""
        known = ("covered", "follows") if self.checked else ()
        return {name: float(self.checked[name][self.recommended]) for name in known}

    @property
    def verdict(self) -> str:
        """Return "better", "too close" or "worse" for the recommended policy; "" if nobody was held out."""
        return str(self.held_out(self.recommended)["verdict"])

    def held_out(self, policy: int, group: int | None = None) -> dict[str, Any]:
        """Return a policy's verdict and intervals, from all held-out people or one group of them, as JSON data."""
        ends, public = self.intervals(policy, group), self.spec.public
        found: dict[str, Any] = {"verdict": check.verdict(ends["difference"]) if ends else ""}
        found |= {name: values.tolist() for name, values in ends.items()}
        if group is None and "groups" in self.checked:
            found["groups"] = {label: self.held_out(policy, i) for i, label in enumerate(public.groups)}
            found["groups' share of rho"] = check.share_of_groups(public.episodes)
        return found

    @property
    def portable(self) -> Policy:
        """Return the recommended policy with its evidence and guarantee, in the form that can be saved as a file."""
        spec, public, card, E = self.spec, self.spec.public, self.guarantee, next(iter(self.errors.values()))
        people = check.taken(self.released, self.policy.astype(np.int64))
        counted = {"a number of people counts": "episodes"} if public.of_people else {}
        proved = {name: getattr(card, f"proved_{name}") for name in ("rho", "epsilon", "delta")}
        other = 1 - self.recommended
        always = public.in_units(self.always, spec.problem_size.H)
        best = int(always.argmax())
        says = {"held-out users say at most": float(self.intervals(0)["learned"][2])} if self.checked else {}
        about = {
            "algorithm": LEARNERS[self.recommended],
            "privacy": {
                "unit": card.unit, "adjacency": card.adjacency, **proved, "assumes": list(card.assumptions),
                "noise": f"{card.mechanism}, {card.noise_formula}",
                "covers": "this release; the costs of other releases about the same people add to it",
            },
            "bound": {
                "of": LEARNERS[0],
                "best rule of one action": {"action": public.actions[best], "about": float(always[best])},
                "worth at least": float(self.curve.values[0]),
                "from": ESTIMATED if public.start is None else "the declared start, taken to be true",
                "except with a chance of": spec.beta, "for the best of k releases": "k times that chance",
                "where evidence is lacking": "whatever is decided there", **says,
            },
            "held out": {"people": spec.checked, **self.held_out(self.recommended), **self.shares},
            "other policy": {"algorithm": LEARNERS[other], **self.held_out(other)},
            "declared": json.loads(spec.declared), **counted,
            "people learned from": spec.learned_from,
            "a number of people is off by at most": float(E),
            "where evidence is lacking": SOMEBODY,
            "versions": {"dprl": version("dprl")} | dict(zip(("sources", "numba", "numpy"), engine(), strict=True)),
        }  # fmt: skip
        tables = np.array(public.actions)[self.policy], people.round(1), people - E >= 1
        steps, numbers, enough = (tuple(map(tuple, table.tolist())) for table in tables)
        return Policy(public.states, public.actions, steps, numbers, enough, about, spec.first_step)


def registry_entry(trace: UploadTrace) -> str:
    """Return a draft entry for OpenDP's registry of deployments, which the data's owner has to complete.

    It is JSON, which is valid YAML. Fields that only the owner can fill in are empty.
    """
    spec, card, policy = trace.spec, trace.guarantee, trace.portable
    said = {
        "steps": spec.problem_size.H,
        "public": "; ".join(card.public),
        "unit": card.unit,
        "adjacency": card.adjacency,
        "proved": f"epsilon = {card.proved_epsilon:g} at delta = {card.proved_delta:g}",
        "noise": f"{card.mechanism}, {card.noise_formula}",
        "groups": REGISTRY["by_group"] * bool(spec.public.groups),
        "assumptions": "; ".join(card.assumptions),
        "verdict": trace.verdict or "none",
        "versions": ", ".join(f"{name} {version}" for name, version in policy.about["versions"].items()),
        "digest": policy.digest,
    }
    deployment = {
        part: {key: text.format(**said) if isinstance(text, str) else text for key, text in texts.items()}
        for part, texts in REGISTRY["deployment"].items()
    }
    deployment["privacy_loss"]["privacy_parameters"] = {"rho": card.proved_rho}
    return json.dumps({"url_slug": "", "deployment": deployment}, indent=1, ensure_ascii=False) + "\n"
