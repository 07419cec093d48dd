"""The names and styles of curves, based on the settings that distinguish a run from the others in a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from dprl.environments import ENVIRONMENTS
from dprl.environments.custom import parsed
from dprl.fields import shown
from dprl.figures.looks import CurveStyle, numbered
from dprl.figures.regret import distinct
from dprl.learners import ALGORITHMS
from dprl.learners.tabular.planner import OWN
from dprl.messages import messages
from dprl.messages.labels import called, phrase
from dprl.privacy import MECHANISMS
from dprl.research.series import place_of, style_of
from dprl.sentences.regret import DRAFT
from dprl.simulation import OfflineSpec, RunSpec, Spec
from dprl.words import count, plural
from pages.shared.visitor.links import Curve

T = TypeVar("T")
_SYMBOL = {"episodes": "K", "delta": "δ", "beta": "β", "root_seed": "root seed"}
NAMED = messages("controls")["named"]
_SAID = 3  # maximum number of differences in a title


def titles(curves: Sequence[Curve]) -> list[str]:
    """Return a unique plain-text title for each curve, which names the environment and algorithm if they differ."""
    several = len({curve.spec.algorithm for curve in curves}) != 1 or len(curves) == 1
    places = places_apart([curve.spec for curve in curves])
    labels = [place + label(curve.spec, several) for curve, place in zip(curves, places, strict=True)]
    apart = told_apart([curve.spec for curve in curves], labels)
    named = zip(curves, apart, strict=True)
    return distinct([f"{DRAFT if curve.draft else ''}{curve.name or title}" for curve, title in named])


def places_apart(specs: Sequence[RunSpec | OfflineSpec]) -> list[str]:
    """Return a prefix with the environment for each run's title, or "" if all runs have the same environment."""
    if len({place_of(spec) for spec in specs}) == 1:
        return [""] * len(specs)
    names = [ENVIRONMENTS[spec.environment].called(spec.environment_params) for spec in specs]
    told = _differences([spec.environment_params for spec in specs], names)
    return [f"{_place(spec, inside)}: " for spec, inside in zip(specs, told, strict=True)]


def _place(spec: RunSpec | OfflineSpec, inside: Sequence[str]) -> str:
    """Name the environment of a run, with some of its parameters in parentheses."""
    name = ENVIRONMENTS[spec.environment].called(spec.environment_params)
    return name + (f" ({', '.join(inside)})" if inside else "")


def told_apart(specs: Sequence[Spec], labels: Sequence[str]) -> list[str]:
    """Return the labels. Add to equal ones the settings in which their specs differ."""
    told = _differences(list(map(_flat, specs)), labels)
    return [", ".join([words, *each]) for words, each in zip(labels, told, strict=True)]


def _differences(settings: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> list[list[str]]:
    """Describe, for each label, the settings in which its spec differs from the specs with an equal label."""
    result = []
    for own, words in zip(settings, labels, strict=True):
        group = [other for other, label in zip(settings, labels, strict=True) if label == words]
        # A setting that only some specs have follows from other differences, as the bonus's multipliers do.
        differing = [key for key in own if len({str(other[key]) for other in group if key in other}) > 1]
        if "calibration" in differing and "delta" in differing:
            differing.remove("delta")  # noise as in the paper has its own delta
        result.append([_told(key, own[key]) for key in differing[:_SAID]])
    return result


def label(spec: RunSpec, with_algorithm: bool = True) -> str:
    """Name the algorithm, the privacy model and epsilon in a few words."""
    privacy = called(
        phrase("plain") if spec.privacy == "none" else f"{spec.privacy} ε = {spec.epsilon:g}",
        episodes_each(spec),
        phrase("structure") if spec.structure else "",
        phrase("bonus") if spec.bonus == OWN else "",
    )
    if with_algorithm:
        return f"{ALGORITHMS[spec.algorithm].title}, {privacy}"
    return privacy[0].upper() + privacy[1:]


def episodes_each(spec: RunSpec | OfflineSpec) -> str:
    """Describe how many episodes one user may have, or return "" for one."""
    return f"up to {spec.contribution} episodes a user" if spec.contribution > 1 else ""


def kinds(curves: Sequence[Curve]) -> list[CurveStyle]:
    """Return a different style for each curve of a comparison. Each environment has its own dashes."""
    looks = [replace(style_of(curve.spec), draft=curve.draft) for curve in curves]
    places = [place_of(curve.spec) for curve in curves]
    order = list(dict.fromkeys(places))
    further = (len(ALGORITHMS) * order.index(place) for place in places)
    return numbered([replace(k, learner=k.learner + n) for k, n in zip(looks, further, strict=True)])


def in_common(curves: Sequence[Curve], moving: bool = False) -> str:
    """Describe the main settings that all curves share, in plain text. If `moving`, leave out users and seeds."""
    first = curves[0].spec
    specs = [curve.spec for curve in curves]
    parts = shared_problem(specs)
    if len(specs) > 1 and len({s.algorithm for s in specs}) == 1:
        parts.append(ALGORITHMS[first.algorithm].title)
    parts += [MECHANISMS[one].title for one in only(s.mechanism for s in specs if s.mechanism)]
    parts += [NAMED["calibration"][one] for one in only(s.calibration for s in specs if s.calibration)]
    parts += [f"K = {count(K)} episodes" for K in only(s.episodes for s in specs) if not moving]
    parts += [NAMED["bonus"][bonus] for bonus in only(s.bonus for s in specs)]
    parts += [plural(seeds, "seed") for seeds in only(s.seeds for s in specs) if not moving]
    return " · ".join(parts)


def only(values: Iterable[T]) -> list[T]:
    """Return a list with the value that all items share, or an empty list if they differ."""
    found = list(set(values))
    return found if len(found) == 1 else []


def shared_problem(specs: Sequence[RunSpec | OfflineSpec]) -> list[str]:
    """Describe the environment and the parameters that all specs share, or return [] if the environments differ."""
    first = specs[0]
    if len({(s.environment, s.environment_params.get("id")) for s in specs}) > 1:
        return []
    own = first.environment_params
    common = {k: v for k, v in own.items() if k != "id" and all(s.environment_params[k] == v for s in specs)}
    inside = [_value(v) if k == "model" else f"{k} = {_value(v)}" for k, v in common.items()]
    return [_place(first, inside)]


def _flat(spec: Spec) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in spec.to_dict().items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{k}": v for k, v in value.items() if v is not None}
        elif value is not None:
            flat[key] = value
    return flat


def _told(key: str, value: Any) -> str:
    """Write a setting and its value in words."""
    if key == "mechanism":
        return MECHANISMS[value].title
    if key == "calibration":
        return str(NAMED[key][value])
    if key == "reports":
        return f"reports {messages('controls')[key][value]}"
    name = key.split(".")[-1]
    return f"{_SYMBOL.get(name, name)} {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, str) and value.startswith("{"):  # an environment's own JSON: its name
        return parsed(value)[0]
    if isinstance(value, int) and value >= 100_000:
        return count(value)
    return f"{value:g}" if isinstance(value, float) else shown(str(value))
