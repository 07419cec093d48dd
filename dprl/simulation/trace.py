"""The results of any run: a curve, the optimal value, the privacy guarantee and the computing time."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.fields import Frozen, check_flags
from dprl.mdp.tabular import Array, read_only
from dprl.messages import counted
from dprl.messages.brief import described
from dprl.messages.labels import called, phrase
from dprl.privacy.guarantee import Guarantee
from dprl.simulation.base import Spec

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]
NONNEGATIVE = ("regret", "gap")  # measures


class Curve(NamedTuple):
    """A curve, with names for its axis and measure, such as episode and regret, and values at increasing points [C]."""

    axis: str
    measure: str
    at: Ints
    values: Array

    def __repr__(self) -> str:
        return described(self)


def known_of(run: Any, complete: bool, guarantee: Guarantee, reached: float) -> dict[str, Any]:
    """Return the fields that all traces share. `reached` is how far along the curve's axis the run is."""
    return {
        "spec": run.spec,
        "seed": run.seed,
        "complete": complete,
        "curve": run.curve(),
        "guarantee": guarantee,
        "seconds": run.seconds,
        "rate": reached / run.seconds if run.seconds > 0 else 0.0,
    }


S_co = TypeVar("S_co", covariant=True)  # a Spec; unbound, so that a list of runs of several kinds has a type


@dataclass(frozen=True, eq=False, kw_only=True)
class TraceCore(Generic[S_co]):
    """The results of a run with one random seed. Subclasses add read-only arrays, mappings of arrays, or plain JSON."""

    spec: S_co  # each subclass has one kind of spec
    seed: int
    complete: bool  # whether the seed ran to its end
    curve: Curve
    v_star: float | None  # the best possible value; None if no model is known
    guarantee: Guarantee  # both as stated and as proved
    seconds: float  # the computing time
    rate: float  # progress along the curve's axis per second

    # fields of noise, which are not compressed, each with another field; if the two are equal, only the other is stored
    NOISY: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        axis, measure, at, values = self.curve
        frozen: dict[str, Any] = {"curve": Curve(axis, measure, read_only(at), read_only(values))}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray):
                frozen[f.name] = read_only(value)
            elif isinstance(value, Mapping):
                frozen[f.name] = Frozen({name: read_only(array) for name, array in value.items()})
        for name, value in frozen.items():
            object.__setattr__(self, name, value)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__repr__" not in vars(cls):  # else the dataclass makes one, which prints every array
            cls.__repr__ = TraceCore.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        axis, measure, at, values = self.curve
        seed = phrase("seed", seed=self.seed)
        if len(at):
            last = {"measure": measure, "value": f"{values[-1]:.6g}", "axis": axis, "at": f"{at[-1]:,}"}
            seed = phrase("seed_at", seed=self.seed, **last)
        told = called(cast(Spec, self.spec).label(), seed, "" if self.complete else phrase("cut"))
        return f"{type(self).__name__}({told})"

    def to_bytes(self) -> bytes:
        """Return the trace as compressed bytes that contain only arrays and JSON, never code."""
        arrays: dict[str, Any] = {"at": self.curve.at, "values": self.curve.values}
        plain: dict[str, Any] = {
            "spec": cast(Spec, self.spec).to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "curve": [self.curve.axis, self.curve.measure],
            "mappings": [],
        }
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray):
                arrays[f.name] = value
            elif isinstance(value, Mapping):
                plain["mappings"].append(f.name)
                arrays |= {f"{f.name}: {name}": array for name, array in value.items()}
            elif f.name not in plain:
                plain[f.name] = value
        arrays["plain"] = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                if name in self.NOISY and np.array_equal(array, getattr(self, self.NOISY[name])):
                    continue
                entry = zipfile.ZipInfo(f"{name}.npy")
                # trying to compress noise takes longer than simulating it
                entry.compress_type = zipfile.ZIP_STORED if name in self.NOISY else zipfile.ZIP_DEFLATED
                with archive.open(entry, "w") as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
        return zlib.compress(buffer.getvalue(), 0)  # for its checksum

    @classmethod
    def restored(cls, spec: Any, arrays: dict[str, Any], plain: dict[str, Any]) -> Self:
        """Build the trace from the arrays and the JSON that `unpacked` read."""
        for name, same in cls.NOISY.items():
            arrays.setdefault(name, arrays[same])
        known = {**plain, "spec": spec, "guarantee": Guarantee.from_dict(plain["guarantee"])}
        axis, measure = plain["curve"]
        known["curve"] = Curve(axis, measure, arrays.pop("at"), arrays.pop("values"))
        for name in known.pop("mappings"):
            mark = f"{name}: "
            known[name] = {k.removeprefix(mark): arrays.pop(k) for k in list(arrays) if k.startswith(mark)}
        return cls(**known, **arrays)


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the arrays and the JSON that `to_bytes` wrote. Raises one of the `DAMAGE` errors if they cannot be read."""
    with np.load(io.BytesIO(zlib.decompress(data)), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return arrays, json.loads(arrays.pop("plain").tobytes())


DAMAGE = (
    zlib.error, zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, EOFError, OSError
)  # fmt: skip


T_co = TypeVar("T_co", bound=TraceCore[Any], covariant=True)


@dataclass(frozen=True, eq=False, init=False)
class Trace(Generic[T_co]):
    """The results of all seeds of a finished run, at the same points. An online run gives a Trace[SeedTrace]."""

    _spec: Any
    seeds: tuple[T_co, ...]  # which details they have depends on the spec's kind

    def __init__(self, spec: Spec, seeds: tuple[T_co, ...]) -> None:
        object.__setattr__(self, "_spec", spec)
        object.__setattr__(self, "seeds", seeds)

    @property
    def spec(self: Trace[TraceCore[S_co]]) -> S_co:
        """Return the description of the run, such as a RunSpec."""
        return cast(S_co, self._spec)

    def __repr__(self) -> str:
        final, axis, measure = self.summary(), self._curve.axis, self._curve.measure
        mean, low, high = (final[f"final_{measure}_{name}"] for name in ("mean", "low", "high"))
        said = {"measure": measure, "mean": f"{mean:.6g}", "axis": axis, "at": f"{self.at[-1]:,}"}
        if low is None:
            last = phrase("final", **said)
        else:
            last = phrase("final_interval", low=f"{low:.6g}", high=f"{high:.6g}", **said)
        given = self.spec.to_dict()
        key = given.get("environment")
        where = ENVIRONMENTS[key].called(given["environment_params"]) if key else ""
        run = called(self.spec.label(), where, counted(len(self.seeds), "seed"))
        return "\n".join((phrase("trace", run=run), last, repr(self.guarantee)))

    @property
    def at(self) -> Ints:
        """Return the points on the curve's axis, [C]."""
        return self._curve.at

    @cached_property
    def values(self) -> Array:
        """Return the measure at the curve's points, [seeds, C]."""
        return read_only(np.stack([seed.curve.values for seed in self.seeds]))

    @property
    def episodes(self) -> Ints:
        """Return the number of users at each checkpoint of an online run, [C]."""
        return self.at

    @property
    def regret(self) -> Array:
        """Return the cumulative regret of an online run, [seeds, C]."""
        return self.values

    @property
    def guarantee(self) -> Guarantee:
        """Return the privacy guarantee of the run, both as stated and as proved."""
        return self.seeds[0].guarantee

    @property
    def _curve(self) -> Curve:
        return self.seeds[0].curve

    def frame(self, *, whole: bool = True) -> pd.DataFrame:
        """Return a tidy table with one row for each seed and point of the curve, and columns such as seed, episode and
        regret. Without `whole`, the table contains only the last point."""
        import pandas as pd

        check_flags(whole=whole)
        points = slice(None if whole else -1, None)
        at, values = self.at[points], self.values[:, points]
        return pd.DataFrame(
            {
                "seed": np.repeat([t.seed for t in self.seeds], len(at)),
                self._curve.axis: np.tile(at, len(self.seeds)),
                self._curve.measure: values.ravel(),
            }
        )

    def summary(self) -> dict[str, Any]:
        """Return the final value with its 95% t interval over seeds, the stated and proved guarantees, and the speed.

        Intervals of regret and suboptimality begin at 0 or above. Missing values, such as the interval of a single
        seed, are None, but a missing rho is left out.
        """
        final = self.values[:, -1]
        low = high = None
        if len(final) > 1:
            from scipy.stats import t

            half = float(t.ppf(0.975, len(final) - 1) * final.std(ddof=1) / np.sqrt(len(final)))
            low, high = float(final.mean()) - half, float(final.mean()) + half
            if self._curve.measure in NONNEGATIVE:
                low = max(low, 0.0)
        promised, axis, measure = self.guarantee, self._curve.axis, self._curve.measure
        rho = {"claimed_rho": promised.claimed_rho, "proved_rho": promised.proved_rho}
        return {
            "v_star": self.seeds[0].v_star,
            f"final_{measure}_mean": float(final.mean()),
            f"final_{measure}_low": low,
            f"final_{measure}_high": high,
            "claimed_epsilon": promised.claimed_epsilon,
            "claimed_delta": promised.claimed_delta,
            "proved_epsilon": promised.proved_epsilon,
            "proved_delta": promised.proved_delta,
            **{name: value for name, value in rho.items() if value is not None},
            "seconds": float(sum(seed.seconds for seed in self.seeds)),
            f"{axis}s_per_s": float(np.median([seed.rate for seed in self.seeds])),
        }
