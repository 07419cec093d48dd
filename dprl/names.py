"""What fields of specs may be, so that an editor completes it. `| str` stands beside: packages register more.

`python -m bench.names` writes this file.
"""

from typing import Literal

from dprl.static_types import Given as Given
from dprl.static_types import Number as Number
from dprl.static_types import NumberOrNone as NumberOrNone
from dprl.static_types import Whole as Whole

Environment = Literal[
    "riverswim",
    "gridworld",
    "chain",
    "clinic",
    "hard-jdp",
    "linear-mdp",
    "linear-synthetic",
    "linear-mixture",
    "random",
    "gymnasium",
    "custom",
]
Algorithm = Literal[
    "dp-ucbvi",
    "pucb",
    "private-ucb-vi",
    "ucbvi",
    "ucbvi-hoeffding",
    "ubev",
    "sdp-pe",
    "apeve",
    "sdp-pe-relaxed",
    "apeve-relaxed",
    "ucrl-vtr",
    "ucrl-vtr-plus",
    "lsvi-ucb",
    "private-ucb-po",
    "ucb-po",
    "ldp-obi",
]
Privacy = Literal[
    "none",
    "central",
    "shuffle",
    "local",
]
Mechanism = Literal[
    "gaussian-toeplitz",
    "gaussian-optimal",
    "gaussian-blt",
    "gaussian-tree",
    "laplace-tree",
    "gaussian",
    "laplace",
    "unary",
    "binomial-sum",
    "binomial-tree",
]
Calibration = Literal[
    "calibrated",
    "paper",
]
Reports = Literal[
    "all",
    "played",
]
Bonus = Literal[
    "anytime",
    "paper",
    "practical",
    "own",
]
Rewards = Literal[
    "known",
    "learned",
]
OfflineAlgorithm = Literal[
    "dp-apvi",
    "apvi",
    "dp-vapvi",
    "vapvi",
    "pevi",
    "dp-pevi",
    "dp-kl-lcb",
    "dp-plug-in",
]
Promise = Literal[
    "zcdp",
    "pure",
    "approximate",
    "none",
]
