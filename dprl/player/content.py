"""The data in a page that simulates runs: JSON that describes the curves, followed by the arrays of the runs."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import stdtrit

from dprl.engine.module import manifest
from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.figures import regret, style
from dprl.figures.chart import EPISODES, Chart
from dprl.figures.lines import band
from dprl.figures.looks import CurveStyle, color
from dprl.figures.picture import markup
from dprl.figures.policy import environment_drawing
from dprl.figures.trust import LEARNED
from dprl.learners import ALGORITHMS
from dprl.links import NAME, OWNERS, VERSION, defaults, spec_pairs, written
from dprl.metrics.curves import LEVEL
from dprl.privacy import PRIVATIZERS, Guarantee
from dprl.research.series import place_of
from dprl.sentences import promise as promises
from dprl.sentences.noise import IN_A_COUNT
from dprl.sentences.regret import ALIKE, NAMED, SAID
from dprl.simulation import RunSpec, estimate
from dprl.simulation.pairs import runs_in
from dprl.simulation.replay import SEEDS
from dprl.words import SAID as NUMBERS
from dprl.words import human, plural, promise, proves

FEWEST_USERS = 10_000  # smallest number of users on the slider; with fewer, hardly any curve bends
PlayedMeasure = Literal["share", "cumulative", "per-episode"]  # a part of `figures.regret.Measure`
# Templates that the page fills with the results of its runs.
SENTENCES = (
    "lost", "lost_where_compared", "beside", "beside_times", "left_out", "learned", "learned_later", "learned_alike",
    "not_learned", "share_of_best",
    "each_of_best", "each_short", "total_of_best",
)  # fmt: skip
PARTS = (100, 10, 1)  # the slider offers the run's own number of users divided by each of these


@dataclass(frozen=True)
class PlayedCurve:
    """A curve on the page, with the runs that the page can simulate for it."""

    spec: RunSpec  # its run
    title: str  # its title on the dashboard
    label: str  # the title without a visitor's own name
    look: CurveStyle  # the style in which it is drawn
    # the output of `simulation.replay.replayed` for each number of users in `sizes_of`
    replays: Mapping[int, dict[str, Any]]
    name: str = ""  # a visitor's name for it, stored in links


@dataclass(frozen=True)
class Shown:
    """The first view of the page. x and y are "log" or "linear". `sentence` is a message from whoever shares it."""

    measure: PlayedMeasure = "share"
    x: str = "log"
    y: str = "linear"
    sentence: str = ""


def sizes_of(spec: RunSpec) -> list[int]:
    """Return the numbers of users that a page offers for a run: the run's own number and fractions of it, ascending."""
    sizes = {spec.episodes // part for part in PARTS}
    return sorted(size for size in sizes if size >= FEWEST_USERS or size == spec.episodes)


def content(curves: Sequence[PlayedCurve], shown: Shown) -> bytes:
    """Return the page's data as bytes: the length of the JSON in four bytes, the JSON, and the arrays."""
    arrays = _Arrays()
    families: list[Any] = []
    told = []
    for curve in curves:
        sizes = []
        for episodes, found in sorted(curve.replays.items()):
            sizes.append({"episodes": episodes, "text": written(episodes), "family": len(families)})
            families.append(_family(curve, episodes, found, arrays))
        told.append(_curve(curve, sizes))
    head = {
        "curves": told,
        "families": families,
        "worlds": worlds(curve.spec for curve in curves),
        "codec": codec(),
        "kernels": [*manifest().kernels],
        "quantiles": [0.0, *(float(stdtrit(n, (1 + LEVEL) / 2)) for n in range(1, SEEDS))],
        "charts": {"light": _dress(False), "dark": _dress(True)},
        "measure": shown.measure,
        "axes": {"x": shown.x, "y": shown.y},
        "best": _best([curve["best"] for curve in told], curves[0].spec.environment),
        "said": said(),
        "sentence": shown.sentence,
    }
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    return struct.pack("<I", len(text)) + text + arrays.all


def said() -> dict[str, Any]:
    """Return the sentence templates and thresholds with which assets/web/player_sentence.js describes runs."""
    words = {name: SAID[name] for name in SENTENCES} | {"tiny": NUMBERS["tiny"]}
    return words | {"learned_at": LEARNED, "alike": ALIKE, "named": NAMED}


def _curve(curve: PlayedCurve, sizes: list[dict[str, Any]]) -> dict[str, Any]:
    spec, look, v_star = curve.spec, curve.look, curve.replays[curve.spec.episodes]["v_star"]
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    own = f"ε = {spec.epsilon:g}" if spec.epsilon is not None else ""
    label = curve.label.replace(own, "ε = {}") if own and own in curve.label else curve.label
    if own and "{}" not in label:
        label += ", ε = {}"
    return {
        "title": curve.title,
        "label": label,
        "pairs": spec_pairs(spec) | ({NAME: curve.name} if curve.name else {}),
        "epsilon": spec.epsilon,
        "sizes": sizes,
        "size": [size["episodes"] for size in sizes].index(spec.episodes),
        "seeds": spec.seeds,
        "best": v_star,
        "best_text": f"{v_star:#.3g}",
        "place": place_of(spec),
        "dash": look.dash,
        "symbol": look.symbol,
        "number": look.number,
        "environment": {"states": list(mdp.state_labels), "actions": list(mdp.action_labels)},
    }


def _best(values: Sequence[float], environment: str) -> dict[str, Any] | None:
    """Return a line at the largest possible loss of an episode, or None if this loss differs between curves."""
    if len({round(v_star, 9) for v_star in values}) > 1 or not values[0] > 0:
        return None
    name, hover = regret.most_of(values[0], world=ENVIRONMENTS[environment].title)
    return {"value": values[0], "name": name, "hover": hover}


def _family(curve: PlayedCurve, episodes: int, found: dict[str, Any], arrays: _Arrays) -> dict[str, Any]:
    def placed(differing: list[list[Any]]) -> list[list[Any]]:
        return [[number, arrays.place(one)] for number, one in differing]

    stops = [
        {
            "epsilon": stop["epsilon"],
            "text": "" if stop["epsilon"] is None else written(stop["epsilon"]),
            "words": stop["words"],
            "buffers": placed(stop["buffers"]),
            "card": _card(Guarantee.from_dict(stop["guarantee"] | {"ladder": []}), curve.spec),
            "light": color(curve.look.model, stop["epsilon"], False),
            "dark": color(curve.look.model, stop["epsilon"], True),
        }
        for stop in found["stops"]
    ]
    return {
        **{name: found[name] for name in ("kernel", "words", "drawn", "names", "shapes")},
        "seconds": estimate(curve.spec.replace(episodes=episodes)).seconds,
        "buffers": [arrays.place(one) for one in found["buffers"]],
        "seeds": [placed(differing) for differing in found["seeds"]],
        "stops": stops,
    }


def _card(g: Guarantee, spec: RunSpec) -> dict[str, Any]:
    """Describe a run's stated and proved guarantees as HTML sentences and as table rows."""
    words = PRIVATIZERS[spec.privacy].words
    says, rows = [markup(g.trust)], []
    if g.claimed_epsilon is not None:
        claimed, calibrated = (g.claimed_epsilon, g.claimed_delta or 0.0), spec.calibration == "calibrated"
        _, sentence = promises.about_promise(*claimed, g.readings, words.blanked, calibrated=calibrated)
        says.insert(0, markup(sentence))
        # under the replace-one definition of neighbours
        proved = "–" if g.proved_epsilon is None else proves(g.proved_epsilon, g.proved_delta or 0.0)
        rows = [
            ["Claimed (ε, δ)", promise(*claimed)],
            ["Proved (ε, δ)", proved],
            *([[IN_A_COUNT, f"{human(g.noise_std)} visits"]] if g.noise_std else []),
            ["Protected", g.unit],
            ["Noise", f"{g.mechanism}: {g.noise_formula}"],
        ]
    return {"says": says, "rows": rows}


def _dress(dark: bool) -> dict[str, Any]:
    """Return the settings of the page's charts, such as colours and layouts, in the light or dark theme."""
    colors = style.theme(dark)
    regrets: tuple[PlayedMeasure, ...] = get_args(PlayedMeasure)
    titles = {one: (regret.TITLES[one], EPISODES, regret.Y_TITLES[one], 480) for one in regrets} | {
        "counts": ("Visit counts, true and noisy", "True visits", "Visits with noise", 420),
        "policy": ("Policy", "Step of the episode", "State", 320),
    }
    layouts = {name: Chart(*texts, height=high, dark=dark).layout for name, (*texts, high) in titles.items()}
    layouts["share"]["yaxis"] |= {"tickformat": "~%"}
    return {
        "layouts": layouts,
        "shares": regret.SHARES,
        "config": style.config("png", dark=dark) | {"responsive": True},
        "band": band("mean"),
        "muted": colors.muted,
        "bound": {"color": colors.roles["bound"], "width": 1.5, "dash": style.BOUND_DASH},
        "paper": colors.background,
        "actions": colors.actions,
    }


def bends(data: bytes) -> bytes:
    """Make smooth 8-byte numbers easier to compress: take differences twice, and group their bytes by position."""
    words = np.frombuffer(data, "<u8")
    for _ in range(2):
        words = np.diff(words, prepend=np.zeros(1, np.uint64))
    return words.astype("<u8").view(np.uint8).reshape(-1, 8).T.tobytes()


class _Arrays:
    """A builder that joins the bytes of arrays; equal arrays are stored only once."""

    def __init__(self) -> None:
        self.all = bytearray()
        self._at: dict[bytes, int] = {}

    def place(self, one: dict[str, Any]) -> dict[str, Any]:
        """Store an array from `replay.replayed`, and return its position in the form that the page reads."""
        if "zeros" in one:
            return one
        data = base64.b64decode(one["off"] if "by" in one else one["bytes"])
        how = {"by": one["by"]} if "by" in one else {}
        if not how and len(data) % 8 == 0:
            bent = bends(data)
            if len(zlib.compress(bent)) < len(zlib.compress(data)):
                data, how = bent, {"bends": 1}
        if data not in self._at:
            self._at[data] = len(self.all)
            self.all += data
        return {"at": self._at[data], "size": len(data)} | how


PLACES = 4  # decimal places of positions in a picture whose sides are about 1


def worlds(specs: Iterable[RunSpec]) -> list[dict[str, Any]]:
    """Return the drawing of each distinct environment, in the form that assets/web/player_below.js draws."""
    distinct = {place_of(spec): spec for spec in specs}
    return [_world(spec) for spec in distinct.values()]


def _world(spec: RunSpec) -> dict[str, Any]:
    mdp = ENVIRONMENTS[spec.environment].make(**spec.environment_params)
    H, S, A = mdp.R.shape
    labels = {"state_labels": mdp.state_labels, "action_labels": mdp.action_labels}
    pictures = {
        theme: environment_drawing(mdp.P, mdp.R, drawing=mdp.drawing, **labels, dark=theme == "dark")
        for theme in ("light", "dark")
    }
    first = pictures["light"]
    size = f"{plural(S, 'state')}, {plural(A, 'action')} and {plural(H, 'step')}"
    name = ENVIRONMENTS[spec.environment].called(spec.environment_params)
    says = f"{name}, with {size}. {first.alt} {first.see}".strip()
    return {"says": says} | {theme: _plain(one.figure.to_plotly_json()) for theme, one in pictures.items()}


def _plain(figure: dict[str, Any]) -> dict[str, Any]:
    """Return a picture with rounded numbers and without Plotly's tools, so that dragging on it scrolls the page."""
    layout = {name: value for name, value in figure["layout"].items() if name != "template"} | {
        "dragmode": False
    }
    text = json.dumps({"data": figure["data"], "layout": layout}, default=lambda value: value.tolist())
    found: dict[str, Any] = json.loads(text, parse_float=lambda digits: round(float(digits), PLACES))
    return found


def codec() -> dict[str, Any]:
    """Return the data with which the page reads and writes links, such as the default settings that they leave out."""
    return {"version": VERSION, "defaults": defaults(), "owners": OWNERS, "refused": refused()}


@cache
def refused() -> dict[str, Any]:
    """Return the combinations of settings that dprl refuses: a list of error messages without the final full stop and,
    for each algorithm and privacy model, the index of its message (or one index for each mechanism)."""
    sentences: dict[str, int] = {}
    pairs: dict[str, dict[str, Any]] = {}

    def number(algorithm: str, privacy: str, mechanism: str | None, field: str) -> int | None:
        world = next(key for key in ENVIRONMENTS if runs_in(algorithm, key))
        try:
            RunSpec(
                environment=world, algorithm=algorithm, privacy=privacy, mechanism=mechanism, episodes=1000
            )
        except SpecError as error:
            if error.field == field:
                return sentences.setdefault(str(error).removesuffix("."), len(sentences))
        return None

    mechanisms = sorted({key for one in PRIVATIZERS.values() for key in one.mechanisms})
    for algorithm in ALGORITHMS:
        found: dict[str, Any] = {}
        for privacy, model in PRIVATIZERS.items():
            whole = number(algorithm, privacy, None, "privacy")
            if whole is not None:
                found[privacy] = whole
            elif model.mechanisms:
                each = {key: number(algorithm, privacy, key, "mechanism") for key in mechanisms}
                found[privacy] = {key: one for key, one in each.items() if one is not None}
        pairs[algorithm] = found
    return {"sentences": list(sentences), "pairs": pairs}
