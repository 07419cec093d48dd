"""Make assets/own-data.npz, the example release that the *Your data* page shows first: `python -m bench.own_data`."""

from __future__ import annotations

import io

import dprl
from dprl.assets import ASSETS
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.model import EXAMPLE, EXAMPLE_RHO, example


def main() -> None:
    """Make one release of the example data set. The system draws its noise, so each call gives another release."""
    spec = dprl.upload(io.BytesIO(example().encode()), EXAMPLE, rho=EXAMPLE_RHO)
    trace = dprl.run(spec).seeds[0]
    kept.forget(spec.data)
    (ASSETS / "own-data.npz").write_bytes(trace.to_bytes())
    print(trace.verdict, trace.today, float(trace.curve.values[0]))


if __name__ == "__main__":
    main()
