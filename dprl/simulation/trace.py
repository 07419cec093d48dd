"""What a run leaves behind: curves at checkpoints, and the counts, policies and values at fewer of them."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.fields import SpecError
from dprl.mdp import TabularMDP, planning
from dprl.mdp.tabular import Array
from dprl.privacy.guarantee import Guarantee
from dprl.simulation.spec import RunSpec

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]

DETAIL_BYTES = (
    64 * 2**20
)  # of counts, policies and values a seed may keep; beyond it fewer checkpoints have them


NOISY = ("noisy", "released")  # random digits, or the counts themselves where there is no noise


class Detail(NamedTuple):
    """One checkpoint seen closely; see SeedTrace for the meaning of each."""

    episode: int
    counts: Array
    noisy: Array
    released: Array
    policy: NDArray[np.int16]
    Q: Array
    V: Array
    occupancy: Array
    error_bound: float
    error_used: float
    optimism: float


@dataclass(frozen=True, eq=False)
class SeedTrace:
    """One seed of a run. C checkpoints, D of them with details, P values of alpha.

    episodes: [C] users so far; regret: [C] cumulative, exact values of the policies played, not returns;
    gap: [C] expected loss per episode of the policy played just before; coverage_ratio: [C] largest noise so far
    relative to what E_{eps,beta} allows (at most 1 while the bound holds; 0 without noise);
    pac_alpha: [P], pac_count: [C, P] episodes more than alpha suboptimal so far;
    detail_episodes: [D]; counts, noisy, released: [D, H, S, A, S + 2] true counts, with noise, and as the learner
    sees them (rows as in mdp/counts.py); policy: [D, H, S], Q: [D, H, S, A], V: [D, H, S] the learner's after that
    release; occupancy: [D, H, S] chance that this policy is in s at h; error_bound: [D] E_{eps,beta};
    error_used: [D] the E the bonus used; optimism: [D] share of (h, s, a) with Q at least optimal;
    series: [D] each, an algorithm's own measures by name; optimal_*: the true optimum; v_star: expected optimal
    value of an episode; complete: not cut short.
    """

    spec: RunSpec
    seed: int
    complete: bool
    episodes: Ints
    regret: Array
    gap: Array
    coverage_ratio: Array
    pac_alpha: Array
    pac_count: Ints
    detail_episodes: Ints
    counts: Array
    noisy: Array
    released: Array
    policy: NDArray[np.int16]
    Q: Array
    V: Array
    occupancy: Array
    error_bound: Array
    error_used: Array
    optimism: Array
    series: Mapping[str, Array]
    optimal_policy: NDArray[np.int16]
    optimal_Q: Array
    optimal_V: Array
    optimal_occupancy: Array
    v_star: float
    guarantee: Guarantee
    seconds: float
    episodes_per_s: float

    @classmethod
    def build(
        cls,
        *,
        details: Sequence[Detail],
        mdp: TabularMDP,
        optimum: planning.Optimum,
        **known: Any,
    ) -> SeedTrace:
        """Stack details and add what follows from the MDP."""
        H, S, A = mdp.H, mdp.S, mdp.A
        shapes = {
            "counts": (H, S, A, S + 2), "noisy": (H, S, A, S + 2), "released": (H, S, A, S + 2), "policy": (H, S),
            "Q": (H, S, A), "V": (H, S), "occupancy": (H, S), "error_bound": (), "error_used": (), "optimism": (),
        }  # fmt: skip
        stacked: dict[str, Any] = {
            name: np.array(
                [getattr(d, name) for d in details], dtype=np.int16 if name == "policy" else float
            ).reshape((len(details), *shape))
            for name, shape in shapes.items()
        }
        return cls(
            **known,
            **stacked,
            detail_episodes=np.array([d.episode for d in details], dtype=np.int64),
            optimal_policy=optimum.policy.astype(np.int16),
            optimal_Q=optimum.Q,
            optimal_V=optimum.V[:-1],
            optimal_occupancy=planning.occupancy(mdp, optimum.policy),
            v_star=planning.start_value(mdp, optimum.V),
        )

    def to_bytes(self) -> bytes:
        """A compressed, self-contained form; holds arrays and JSON only, never code."""
        arrays: dict[str, Any] = {}
        plain: dict[str, Any] = {"spec": self.spec.to_dict(), "guarantee": self.guarantee.to_dict()}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray):
                arrays[f.name] = value
            elif f.name == "series":
                arrays |= {f"series: {name}": array for name, array in value.items()}
            elif f.name not in plain:
                plain[f.name] = value
        arrays["plain"] = np.frombuffer(json.dumps(plain).encode(), dtype=np.uint8)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                if name in NOISY and np.array_equal(array, self.counts):
                    continue
                entry = zipfile.ZipInfo(f"{name}.npy")
                # Noise has no pattern to be found: trying to compress it takes longer than to simulate it.
                entry.compress_type = zipfile.ZIP_STORED if name in NOISY else zipfile.ZIP_DEFLATED
                with archive.open(entry, "w") as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
        return zlib.compress(buffer.getvalue(), 0)  # for its checksum

    @classmethod
    def from_bytes(cls, data: bytes) -> SeedTrace:
        """The trace `to_bytes` wrote. Raises SpecError when the bytes are damaged or of another version."""
        try:
            with np.load(io.BytesIO(zlib.decompress(data)), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            for name in NOISY:
                arrays.setdefault(name, arrays["counts"])
            plain = json.loads(arrays.pop("plain").tobytes())
            plain["series"] = {
                name.removeprefix("series: "): arrays.pop(name)
                for name in list(arrays)
                if name.startswith("series: ")
            }
            guarantee = Guarantee.from_dict(plain.pop("guarantee"))
            return cls(
                **arrays, **{**plain, "spec": RunSpec.from_dict(plain["spec"]), "guarantee": guarantee}
            )
        except (
            zlib.error, zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, EOFError, OSError
        ) as error:  # fmt: skip
            raise SpecError(
                "trace", "the stored trace is damaged or of another version; run it again."
            ) from error


@dataclass(frozen=True, eq=False)
class Trace:
    """A finished run: all its seeds, on the same checkpoints."""

    spec: RunSpec
    seeds: tuple[SeedTrace, ...]

    @property
    def episodes(self) -> Ints:
        """[C] checkpoints, in users."""
        return self.seeds[0].episodes

    @cached_property
    def regret(self) -> Array:
        """[seeds, C] cumulative regret."""
        return np.stack([seed.regret for seed in self.seeds])

    @property
    def guarantee(self) -> Guarantee:
        """What the run claims and proves."""
        return self.seeds[0].guarantee

    def frame(self) -> pd.DataFrame:
        """Tidy table with columns seed, episode, regret."""
        import pandas as pd

        return pd.DataFrame(
            {
                "seed": np.repeat([t.seed for t in self.seeds], len(self.episodes)),
                "episode": np.tile(self.episodes, len(self.seeds)),
                "regret": self.regret.ravel(),
            }
        )

    def summary(self) -> dict[str, float | None]:
        """Final regret with its 95% t interval over seeds, what is claimed and proved, and the speed.

        Values that do not exist (an interval of one seed, a privacy nobody claims) are None.
        """
        final = self.regret[:, -1]
        low = high = None
        if len(final) > 1:
            from scipy.stats import t

            half = float(t.ppf(0.975, len(final) - 1) * final.std(ddof=1) / np.sqrt(len(final)))
            low, high = float(final.mean()) - half, float(final.mean()) + half
        card = self.guarantee
        return {
            "v_star": self.seeds[0].v_star,
            "final_regret_mean": float(final.mean()),
            "final_regret_low": low,
            "final_regret_high": high,
            "claimed_epsilon": card.claimed_epsilon,
            "claimed_delta": card.claimed_delta,
            "proved_epsilon": card.proved_epsilon,
            "proved_delta": card.proved_delta,
            "seconds": float(sum(seed.seconds for seed in self.seeds)),
            "episodes_per_s": float(np.median([seed.episodes_per_s for seed in self.seeds])),
        }
