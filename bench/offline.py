"""Offline learning from a private data set: python -m bench.offline (some minutes on one core).

Prints the gap v* - v^pi on RiverSwim and the clinic, how the price of privacy in the lower bound V~ falls with n, how
often V~ is above v^pi, and how long it takes. With `needed` it prints how many trajectories DP-APVI and DP-KL-LCB need,
and nothing else.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import dprl
from dprl import OfflineSpec, Trace, metrics
from dprl.simulation import start

SIZES = [10**k for k in range(4, 13)]
BUDGETS: list[dict[str, Any]] = [
    {"algorithm": "apvi"},
    {"rho": 1.0},
    {"rho": 0.1},
    {"rho": 0.01},
    {"privacy": "pure", "epsilon": 1.0},
    {"privacy": "approximate", "epsilon": 1.0},
    {"rho": 1.0, "calibration": "tight"},
]


def lower(trace: Trace) -> np.ndarray:
    """[seeds, C] V~ at the start."""
    return np.array([seed.lower for seed in trace.seeds])


def gaps(environment: str, behaviour: str, seeds: int = 10) -> None:
    """Mean gap by n, and the exponent of V~ of APVI less V~ on the same data sets over the last two tenfolds."""
    print(f"\n{environment}, {behaviour}, {seeds} data sets of each size: mean gap at n =")
    print("learner | " + " | ".join(f"1e{len(str(n)) - 1}" for n in SIZES) + " | exponent of the price in V~")
    free = None
    for budget in BUDGETS:
        spec = OfflineSpec(
            environment=environment,
            behaviour=behaviour,
            n=SIZES[-1],
            seeds=seeds,
            **{"algorithm": "dp-apvi"} | budget,
        )
        trace = dprl.run(spec)
        shown = [f"{trace.values[:, trace.at == n].mean():.2g}" for n in SIZES]
        words = ""
        if free is None:
            free = lower(trace)
        else:
            mean, low, high = metrics.growth_exponent(trace.at, free - lower(trace), 1e10, 1e12)
            words = f"{mean:.3f} ({low:.3f} to {high:.3f})"
        label = spec.label() + (", tight" if spec.calibration == "tight" else "")
        print(f"{label} | {' | '.join(shown)} | {words}", flush=True)
    d_m, optimal = trace.seeds[0].covered
    print(f"v* = {trace.seeds[0].v_star:.4f}; d_m = {d_m:.2g}, where the optimal policy goes {optimal:.2g}")


LINEAR = [10, 100, 1000, 10**4, 10**5, 2 * 10**5, 5 * 10**5, 10**6, 10**7]


def linear(seeds: int = 10) -> None:
    """Mean gap by n on linear-synthetic, from halves of the data and from the whole; constants are the defaults."""
    for data in ("halves", "whole"):
        print(
            f"\nlinear-synthetic, first:0.6, {data}, {seeds} data sets of each size: gap (standard error) at n ="
        )
        print("learner | " + " | ".join(f"{n:.0e}" for n in LINEAR) + " | proves rho | matrices raised")
        cases: list[dict[str, Any]] = [{"algorithm": "pevi"}, {"algorithm": "vapvi"}]
        if data == "whole":
            cases += [{"algorithm": "dp-pevi", "rho": rho} for rho in (25.0, 0.8, 0.1)]
        cases += [
            {"algorithm": "dp-vapvi", "rho": rho, "calibration": calibration}
            for calibration in ("paper", "tight")
            for rho in (25.0, 1.0, 0.1)
        ]
        for case in cases:
            params = {"data": data} if "vapvi" in case["algorithm"] else {}
            spec = OfflineSpec(environment="linear-synthetic", behaviour="first:0.6", n=LINEAR[-1], seeds=seeds,
                               algorithm_params=params, **case)  # fmt: skip
            trace = dprl.run(spec)
            shown = []
            for n in LINEAR:
                gap = trace.values[:, trace.at == n]
                shown.append(f"{gap.mean():.3f} ({gap.std(ddof=1) / np.sqrt(seeds):.3f})")
            raised = sum(int(seed.repaired.sum()) for seed in trace.seeds)
            label = spec.label() + (", tight" if spec.calibration == "tight" else "")
            print(f"{label} | {' | '.join(shown)} | {trace.guarantee.proved_rho} | {raised}", flush=True)
    print(f"v* = {trace.seeds[0].v_star:.4f}")


def bounds(seeds: int = 100) -> None:
    """How often V~ is above v^pi, of `seeds` data sets of each size on the clinic, uniform behaviour."""
    print("\nV~ above v^pi, clinic, uniform behaviour: data sets of", end=" ")
    cases: list[tuple[str, dict[str, Any]]] = [
        ("DP-APVI, rho 100", {"rho": 100.0}),
        ("APVI as printed", {"algorithm": "apvi"}),
        ("APVI with C3 = 7/3", {"algorithm": "apvi", "algorithm_params": {"C3": 7 / 3}}),
    ]
    for i, (name, fields) in enumerate(cases):
        spec = OfflineSpec(environment="clinic", behaviour="uniform", n=10**5, seeds=seeds, **fields)
        trace = dprl.run(spec)
        above = (lower(trace) > trace.seeds[0].v_star - trace.values + 1e-9).sum(0)
        if i == 0:
            print(", ".join(map(str, trace.at)))
        print(f"{name}: {', '.join(map(str, above))} of {seeds}", flush=True)


PROBLEMS: list[tuple[str, str, dict[str, Any], str]] = [
    ("RiverSwim", "riverswim", {}, "mixture:0.7"),
    ("RiverSwim", "riverswim", {}, "uniform"),
    ("RiverSwim, S = 5, H = 12", "riverswim", {"S": 5, "H": 12}, "mixture:0.7"),
    ("Clinic", "clinic", {}, "mixture:0.7"),
    ("Clinic", "clinic", {}, "uniform"),
    ("Chain", "chain", {}, "uniform"),
    ("Random, S = 7, A = 3, H = 12", "random", {"S": 7, "A": 3, "H": 12, "seed": 555}, "uniform"),
    ("Gridworld", "gridworld", {}, "mixture:0.7"),
]
NOTIONS: list[tuple[str, dict[str, Any]]] = [
    ("rho = 1", {"rho": 1.0}),
    ("rho = 0.1", {"rho": 0.1}),
    ("(1, 10^-6)", {"privacy": "approximate", "epsilon": 1.0}),
    ("(1, 0)", {"privacy": "pure", "epsilon": 1.0}),
]
LEARNERS = [(key, rewards) for rewards in ("known", "learned") for key in ("dp-apvi", "dp-kl-lcb")]


def least(sizes: np.ndarray, good: np.ndarray) -> str:
    """The least size from which on all are good."""
    bad = np.flatnonzero(~good)
    first = 0 if not len(bad) else bad[-1] + 1
    return f"{sizes[first]:.0e}" if first < len(sizes) else "more"


def needed(seeds: int = 5) -> None:
    """Trajectories until the mean gap is at most 5% of v*, and until V~ is at least 80% of v^pi on average."""
    print(
        f"\nn until the gap is 5% of v* / until V~ is 80% of v^pi, {seeds} data sets of each size, tight noise"
    )
    print(
        "| problem, behaviour | budget | "
        + " | ".join(f"{dprl.OFFLINE[key].title}, rewards {rewards}" for key, rewards in LEARNERS)
        + " |"
    )
    above = total = 0
    for name, environment, params, behaviour in PROBLEMS:
        for words, budget in NOTIONS:
            shown = []
            for key, rewards in LEARNERS:
                spec = OfflineSpec(
                    environment=environment,
                    environment_params=params,
                    behaviour=behaviour,
                    algorithm=key,
                    rewards=rewards,
                    n=10**12,
                    seeds=seeds,
                    calibration="tight",
                    **budget,
                )
                trace = dprl.run(spec)
                v_star, gap, low = trace.seeds[0].v_star, trace.values, lower(trace)
                near = least(trace.at, gap.mean(0) <= 0.05 * v_star)
                shown.append(f"{near} / {least(trace.at, low.mean(0) >= 0.8 * (v_star - gap).mean(0))}")
                if "kl" in key:
                    above, total = above + int((low > v_star - gap + 1e-9).sum()), total + gap.size
            print(f"| {name}, {behaviour} | {words} | {' | '.join(shown)} |", flush=True)
    print(f"V~ of DP-KL-LCB, with and without known rewards, above v^pi in {above} of {total} data sets")


def alike(seeds: int = 5) -> None:
    """The same for DP-KL-LCB where steps are declared to be alike."""
    both = [(key, rewards) for key, rewards in LEARNERS if dprl.OFFLINE[key].pools]
    print(
        f"\nas above, {seeds} data sets of each size, steps declared to be alike\n| problem, behaviour | budget | "
        + " | ".join(f"{dprl.OFFLINE[key].title}, rewards {rewards}" for key, rewards in both)
        + " |"
    )
    above = total = 0
    for name, environment, params, behaviour in PROBLEMS:
        for words, budget in NOTIONS:
            shown = []
            for key, rewards in both:
                spec = OfflineSpec(
                    environment=environment, environment_params=params, behaviour=behaviour, algorithm=key,
                    rewards=rewards,
                    n=10**12, seeds=seeds, calibration="tight", stationary="yes", **budget,
                )  # fmt: skip
                trace = dprl.run(spec)
                v_star, gap, low = trace.seeds[0].v_star, trace.values, lower(trace)
                near = least(trace.at, gap.mean(0) <= 0.05 * v_star)
                shown.append(f"{near} / {least(trace.at, low.mean(0) >= 0.8 * (v_star - gap).mean(0))}")
                above, total = above + int((low > v_star - gap + 1e-9).sum()), total + gap.size
            print(f"| {name}, {behaviour} | {words} | {' | '.join(shown)} |", flush=True)
    print(f"V~ above v^pi in {above} of {total} data sets")


def printed(seeds: int = 5) -> None:
    """The same for DP-APVI with the noise and the constants of the paper, beside DP-KL-LCB; rewards are known."""
    print(
        f"\nas above, {seeds} data sets of each size\n| problem, behaviour | rho | DP-APVI, paper | DP-KL-LCB |"
    )
    for name, environment, params, behaviour in PROBLEMS:
        for rho in (1.0, 0.1) if name in ("RiverSwim", "Clinic") or environment == "random" else ():
            shown = []
            for key, calibration in (("dp-apvi", "paper"), ("dp-kl-lcb", "tight")):
                spec = OfflineSpec(
                    environment=environment, environment_params=params, behaviour=behaviour, algorithm=key,
                    n=10**12, seeds=seeds, calibration=calibration, rho=rho,
                )  # fmt: skip
                trace = dprl.run(spec)
                v_star, gap, low = trace.seeds[0].v_star, trace.values, lower(trace)
                near = least(trace.at, gap.mean(0) <= 0.05 * v_star)
                shown.append(f"{near} / {least(trace.at, low.mean(0) >= 0.8 * (v_star - gap).mean(0))}")
            print(f"| {name}, {behaviour} | {rho:g} | {' | '.join(shown)} |", flush=True)


def speed() -> None:
    """One point at n = 10^9, and five budgets on ten data sets of each size."""
    cases: list[dict[str, Any]] = [
        {"environment": "riverswim", "algorithm": "dp-apvi"},
        {"environment": "clinic", "algorithm": "dp-apvi"},
        {"environment": "linear-synthetic", "algorithm": "dp-vapvi", "behaviour": "first:0.6"},
    ]
    for case in cases:
        run = start(OfflineSpec(n=10**9, **case), 0)
        run.advance(60.0)  # kernels are loaded
        began = time.perf_counter()
        run._learn(10**9)  # type: ignore[attr-defined]
        print(
            f"\n{case['environment']}: a point at n = 10^9 takes {1e3 * (time.perf_counter() - began):.1f} ms",
            flush=True,
        )
        began, points = time.perf_counter(), 0
        for rho in (0.01, 0.1, 1.0, 10.0, 100.0):
            points += dprl.run(OfflineSpec(n=5000, seeds=10, rho=rho, **case)).values.size
        print(
            f"five budgets, ten n, ten data sets: {points} points in {time.perf_counter() - began:.1f} s, one core"
        )


def main() -> int:
    if sys.argv[1:] == ["needed"]:
        needed()
        printed()
        return 0
    if sys.argv[1:] == ["alike"]:
        alike()
        return 0
    for environment in ("riverswim", "clinic"):
        gaps(environment, "mixture:0.7")
    gaps("riverswim", "uniform")
    linear()
    bounds()
    speed()
    return 0


if __name__ == "__main__":
    sys.exit(main())
