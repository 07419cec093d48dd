"""Compute the results that come with the program: finished runs, an attack, and V* of the default environments.

`python -m bench.bundled` computes all files of assets/ again with the real engine, after a change that alters them;
`python -m bench.bundled home` computes only that file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import users
from bench.story import story
from dprl.environments import ENVIRONMENTS
from dprl.lessons import LESSONS
from dprl.metrics import search
from dprl.metrics.curves import Evidence, RunCurves, thinned
from dprl.metrics.growth import unsettled
from dprl.metrics.regions import half_widths, region
from dprl.papers import CLAIMS
from dprl.papers.claim import TRACES
from dprl.papers.evidence import kept, noted, seen_in, to_dict
from dprl.papers.ranking import rank, workers
from dprl.papers.report import version
from dprl.runs.database import setting
from dprl.simulation import OfflineSpec, RunSpec, SeedTrace, Spec, answered, kinds, online, run
from pages.attack.link import DEFAULT
from pages.offline.record import bundled_specs
from pages.shared.examples import example_specs, home_specs
from pages.shared.lessons import OWN
from pages.shared.results.data import path_of
from pages.tradeoffs import study as studies

DIGITS = 6  # significant digits of a regret or a score
END_DIGITS = 9  # digits of a regret at the end and of a lower bound, from which others are subtracted
POINTS = 100  # points of a curve: enough for a chart
WIDTHS = 40  # points of a curve of confidence widths


def compute(spec: Spec) -> dict[str, object]:
    """Run a spec, and return its entry for a file: spec, checkpoints, regret (or suboptimality) by seed, and noise."""
    trace = run(spec)
    at = thinned(trace.at, POINTS)
    entry = {
        "spec": spec.to_dict(),
        "noise_std": trace.guarantee.noise_std,
        "episodes": trace.at[at].tolist(),
        "regret": [[float(f"{value:.{DIGITS}g}") for value in row] for row in trace.values[:, at]],
    }
    if isinstance(spec, OfflineSpec):
        entry["lower"] = [[float(f"{value:.{END_DIGITS}g}") for value in t.lower[at]] for t in trace.seeds]
    return entry


def ready_studies() -> dict[RunSpec, list[float]]:
    """Return the final regrets of all runs in the ready-made studies on the Trade-offs page, for its default problem.

    Raises:
        RuntimeError: with the most users, a run without privacy has not found the best policy in every seed. The page
            could not warn of it, because it has only the final regrets.
    """
    found: dict[RunSpec, list[float]] = {}

    def ends(spec: RunSpec) -> NDArray[np.float64]:
        if spec not in found:
            trace = run(spec)
            found[spec] = [float(f"{value:.{END_DIGITS}g}") for value in trace.regret[:, -1]]
            many = spec.privacy == "none" and spec.episodes >= studies.DEFAULT.base.episodes
            if many and (stuck := unsettled(trace.episodes, trace.regret)):
                raise RuntimeError(f"{stuck} seeds have not found the best policy: {spec.to_json()}")
        return np.array(found[spec])

    def price(way: str, episodes: int) -> NDArray[np.float64]:
        spec = study.searches[way][episodes]
        extra: NDArray[np.float64] = (ends(spec) - ends(spec.baseline())) / episodes
        return extra

    for study in studies.questions(studies.DEFAULT.base).values():
        if study.show != "users":
            for spec in study.sweep.specs:
                ends(spec)
            continue
        target = study.share / 100 * online.v_star(study.base)
        picked = search.bootstrap(study.base.seeds)
        for way, runs in study.searches.items():
            search.search_users(partial(price, way), target, tuple(runs), study.base.episodes, picked)
    return found


def optima() -> list[dict[str, object]]:
    """Return V* of every environment with default parameters."""
    specs = [RunSpec(environment=key, algorithm="ucbvi", episodes=100, seeds=1) for key in ENVIRONMENTS]
    return [
        {"environment": s.environment, "params": dict(s.environment_params), "v_star": online.v_star(s)}
        for s in specs
    ]


def attack() -> dict[str, object]:
    """Return the results of the attack that the Attack page shows first."""
    traces = run(DEFAULT).seeds
    scores = {
        world: [float(f"{x:.{DIGITS}g}") for trace in traces for x in getattr(trace, world)]
        for world in ("first", "second")
    }
    first = traces[0]
    return {"spec": DEFAULT.to_dict(), "releases": first.releases, "counters": first.counters, **scores}


def papers(known: Evidence | None = None) -> dict[str, object]:
    """Return the evidence behind the verdicts on the Papers page. known: evidence that is not computed again."""
    wanted: dict[Any, bool] = {}  # spec to whether its whole curves are needed
    for claim in CLAIMS.values():
        wanted |= {spec: whole or wanted.get(spec, False) for spec, whole in claim.runs.items()}
    had = known or Evidence({}, {})
    found, answers = {}, {}
    for spec, question in ((s, q) for claim in CLAIMS.values() for s, q in claim.questions.items()):
        asked = (question, spec)
        answers[asked] = had.answers.get(asked) or (
            seen_in(run(spec)) if question == TRACES else noted(question, answered(kinds.answer(*asked)))
        )
    for spec, whole in wanted.items():
        if spec in had.runs and (not whole or len(had.runs[spec].at) > 1):
            found[spec] = had.runs[spec]
            continue
        trace = run(spec)
        found[spec] = kept(RunCurves(trace.at, trace.values, v_star=trace.seeds[0].v_star), whole)
    return {"version": version(), **to_dict(Evidence(found, answers))}


def ranking() -> str:
    """Return a table of the users that every private algorithm needs, as JSON."""
    with workers(setting("DPRL_WORKERS", 2, 1, 256)) as many:
        return lines_of(rank(many).to_dict())


def rounded(answer: Any) -> Any:
    """Return an answer with all its numbers rounded to DIGITS digits."""
    if isinstance(answer, float):
        return float(f"{answer:.{DIGITS}g}")
    if isinstance(answer, list):
        return [rounded(one) for one in answer]
    return {key: rounded(one) for key, one in answer.items()} if isinstance(answer, dict) else answer


def widths(traces: Sequence[SeedTrace]) -> dict[str, Any]:
    """Return the average confidence radius of a linear model's weights after increasing numbers of users.

    Returns:
        users: [WIDTHS]; rows: [seeds, WIDTHS], interpolated linearly between logarithms of the values at releases.
    """
    at = np.geomspace(10.0, traces[0].episodes[-1], WIDTHS)
    rows = []
    for trace in traces:
        details, steps = range(len(trace.detail_episodes)), range(trace.noisy.shape[1])
        regions = [[region(trace.beliefs, trace.noisy, i, h) for h in steps] for i in details]
        known = [np.mean(list(map(half_widths, each))) for each in regions]
        rows.append(np.exp(np.interp(np.log(at), np.log(trace.detail_episodes), np.log(known))))
    return {"users": at.tolist(), "rows": [[float(f"{x:.4g}") for x in row] for row in rows]}


def lessons() -> list[dict[str, object]]:
    """Return the answers that lessons need besides runs: proved guarantees of noise, and confidence widths."""
    wanted = dict.fromkeys(
        asked for one in LESSONS.values() for step in one.steps for asked in step.questions
    )
    found = []
    for question, spec in wanted:
        if question in OWN:
            answer = (
                widths(run(spec).seeds) if question == "widths" else answered(kinds.answer(question, spec))
            )
            kept = {key: rounded(answer[key]) for key in OWN[question]}
            found.append({"question": question, "spec": spec.to_dict(), "answer": kept})
    return found


def listed(entries: Iterable[object]) -> str:
    """Return a list as JSON text, with one entry per line."""
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    return f"[\n{lines}\n]\n"


def whole(entry: object) -> str:
    """Return one entry as JSON text on one line."""
    return json.dumps(entry, separators=(",", ":")) + "\n"


def lines_of(table: dict[str, Any]) -> str:
    """Return a table as JSON text, with one line per part, and per member of a list of objects."""
    parts = []
    for name, part in table.items():
        text = json.dumps(part, separators=(",", ":"))
        if isinstance(part, list) and part and isinstance(part[0], dict):
            text = "[\n" + ",\n".join(json.dumps(one, separators=(",", ":")) for one in part) + "\n]"
        parts.append(f"{json.dumps(name)}:{text}")
    return "{" + ",\n".join(parts) + "}\n"


# The files of assets/ that are not thinned curves of runs, with the functions that return their text.
OTHERS: dict[str, Callable[[], str]] = {
    "optima": lambda: listed(optima()),  # not for a single page
    "tradeoffs": lambda: listed({"spec": s.to_dict(), "ends": ends} for s, ends in ready_studies().items()),
    "attack": lambda: whole(attack()),
    "papers": lambda: whole(papers()),
    "lessons": lambda: listed(lessons()),
    "users": lambda: lines_of(users.table().to_dict()),
    "start": lambda: lines_of(story()),
    "ranking": ranking,
}
# The runs in each of the other files.
CURVES: dict[str, Callable[[], list[Any]]] = {
    "home": home_specs,
    "examples": example_specs,
    "offline": bundled_specs,
}


def main(names: Collection[str]) -> None:
    """Compute and write the files with these names, or all files if none is named."""
    for name in (*CURVES, *OTHERS):
        if name in names or not names:
            text = listed(map(compute, CURVES[name]())) if name in CURVES else OTHERS[name]()
            path_of(name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
