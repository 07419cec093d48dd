"""What a run will cost, before it runs, and the limits it must fit."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log10

from dprl.fields import SpecError, number
from dprl.privacy import MECHANISMS

MAX_CELLS = 250_000  # H * S * A * (S + 2) counters
MAX_SECONDS = 600.0  # of one core, for one seed
MAX_BYTES = 2 * 2**30  # of memory, for one seed


@dataclass(frozen=True)
class Estimate:
    """seconds: of one core for one seed; bytes: of memory for one seed; releases: M."""

    seconds: float
    bytes: int
    releases: int


def releases(schedule: str, K: int) -> int:
    """About how many release times a schedule has (exact for episodic)."""
    if schedule == "episodic":
        return K
    if schedule == "own":  # stages of policy elimination, each of some batches
        return int(20 * log(K + 1)) + 1
    eta = float(schedule.partition(":")[2])
    start = 1 / eta
    return int(min(K, start + max(0.0, log(max(K / start, 1.0))) / log(1 + eta)))


def estimate(
    S: int, A: int, H: int, K: int, schedule: str, mechanism: str | None, calibration: str | None
) -> Estimate:
    """Seconds and bytes of one seed. The times are those of one core of the machine of bench/engine.py;
    they set expectations and limits, not results."""
    M = releases(schedule, K)
    rows = H * S * A
    cells = rows * (S + 2)
    users = K / M
    sampling = H * (users * 15e-9 if users < 16 else S * S * 60e-9)
    seconds = M * (rows * (5e-9 + 1.5e-9 * S) + sampling + 1e-6)
    rows_kept = 0
    if mechanism is not None:
        seconds += M * (cells * (9e-9 if users < 2 else 38e-9) + rows * 15e-9)
        rows_kept = MECHANISMS[mechanism].rows(K if calibration == "paper" else M, M)
    size = 8 * cells * (6 + rows_kept) + 64 * M + min(64 * 2**20, 40 * 8 * 4 * cells)
    return Estimate(seconds, int(size), M)


def check(
    S: int,
    A: int,
    H: int,
    K: int,
    schedule: str,
    mechanism: str | None,
    calibration: str | None,
    smaller: str = "",
) -> None:
    """Refuse what does not fit, saying what would. smaller: what to say where no H does. Raises SpecError."""
    cells = H * S * A * (S + 2)
    if cells > MAX_CELLS:
        fits = MAX_CELLS // (S * A * (S + 2))
        advice = (
            f"with S={S} and A={A}, H up to {fits} fits"
            if fits
            else smaller or f"with A={A} and H=1, S up to {_largest_S(A)} fits"
        )
        raise SpecError(
            "environment_params",
            f"S={S}, A={A}, H={H} needs {cells:,} counters H*S*A*(S+2) and at most {MAX_CELLS:,} are allowed; "
            f"{advice}.",
        )
    cost = estimate(S, A, H, K, schedule, mechanism, calibration)
    if cost.seconds > MAX_SECONDS:
        affordable = K * MAX_SECONDS / cost.seconds
        unit = 10 ** int(log10(affordable))
        advice = (
            f"at most {number(affordable // unit * unit)} episodes fit"
            if schedule == "episodic"
            else "a larger growth of blocks fits"
        )
        raise SpecError(
            "episodes",
            f"{number(K)} episodes would take about {ceil(cost.seconds / 60)} minutes a seed and at most "
            f"{MAX_SECONDS / 60:.0f} are allowed; {advice}.",
        )
    if cost.bytes > MAX_BYTES:
        raise SpecError(
            "environment_params",
            f"{mechanism} would keep {cost.bytes / 2**30:.1f} GB for {cells:,} counters and about {cost.releases:,} "
            f"releases, and at most {MAX_BYTES / 2**30:.0f} GB are allowed; give smaller S, A or H, or fewer releases.",
        )


def _largest_S(A: int) -> int:
    S = 1
    while (S + 1) * A * (S + 3) <= MAX_CELLS:
        S += 1
    return S
