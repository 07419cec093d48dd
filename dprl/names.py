"""Types of fields of specs: values wider than those read back, and names that an editor completes."""

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

# `python -m bench.names` writes the rest. `| str` stands beside: packages register more.
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
