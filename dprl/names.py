"""What fields of specs may be, so that an editor completes it. `| str` stands beside: packages register more.

`python -m bench.names` writes this file.
"""

from typing import TYPE_CHECKING, Generic, Literal, SupportsFloat, TypeVar

Read_co = TypeVar("Read_co", covariant=True)
Given_contra = TypeVar("Given_contra", contravariant=True)

if TYPE_CHECKING:

    class Given(Generic[Read_co, Given_contra]):
        """A field of a spec, as a static checker sees it: it may be given as more than it is read as.

        What a spec assigns to it is its default, for which mypy would have a descriptor.
        """

        def __get__(self, spec: object, owner: object = None) -> Read_co: ...
        def __set__(self, spec: object, value: Given_contra) -> None: ...

    class Whole(int):
        """A field that becomes a whole number: of 1e6 too, or of NumPy's own.

        It is an int also where mypy looks at no descriptor: in members of a protocol.
        """

        def __get__(self, spec: object, owner: object = None) -> int: ...
        def __set__(self, spec: object, value: SupportsFloat) -> None: ...

    Number = Given[float, SupportsFloat]
    NumberOrNone = Given[float | None, SupportsFloat | None]

else:

    class Given(Generic[Read_co, Given_contra]):
        """An annotation alone: a field is no descriptor when a spec is made."""

    Whole, Number, NumberOrNone = int, float, float | None

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
    "rlsvi",
    "lsvi-ucb-rare",
    "lsvi-ucb-plus-plus",
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
    "tight",
    "paper",
]
Consistency = Literal[
    "own",
    "flow",
    "still",
]
Reports = Literal[
    "all",
    "played",
    "recent",
]
Bonus = Literal[
    "anytime",
    "paper",
    "practical",
    "own",
]
Stationary = Literal[
    "no",
    "yes",
]
OfflineAlgorithm = Literal[
    "dp-apvi",
    "apvi",
    "dp-vapvi",
    "vapvi",
    "pevi",
    "dp-pevi",
    "dp-apvi-rewards",
    "apvi-rewards",
    "dp-kl-lcb",
    "dp-kl-lcb-rewards",
    "dp-plug-in",
    "dp-plug-in-rewards",
]
Promise = Literal[
    "zcdp",
    "pure",
    "approximate",
    "none",
]
