"""The ten claims of the papers that are put to the test, each as an experiment whose verdict is computed.

`dprl reproduce CLAIM` and the page Claims run these and nothing else.
"""

from __future__ import annotations

from dprl.claims.claim import Claim, Setting, SettingPlot, SpecSeries
from dprl.claims.experiments import CLAIMS

__all__ = ["CLAIMS", "Claim", "Setting", "SettingPlot", "SpecSeries"]
