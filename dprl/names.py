"""Types of the fields of specs, for type checkers and the completion of names in editors."""

from typing import TYPE_CHECKING, Generic, Literal, SupportsFloat, TypeVar

Read_co = TypeVar("Read_co", covariant=True)
Given_contra = TypeVar("Given_contra", contravariant=True)

if TYPE_CHECKING:

    class Given(Generic[Read_co, Given_contra]):
        """The type of a spec's field for a static checker: assignment accepts more types than reading returns.

        In the class body, a spec assigns the field's default; mypy would expect a descriptor there.
        """

        def __get__(self, spec: object, owner: object = None) -> Read_co: ...
        def __set__(self, spec: object, value: Given_contra) -> None: ...

    class Whole(int):
        """The type of a field that is stored as an int, even if it is given as 1e6 or as a NumPy integer.

        It inherits from int because mypy ignores descriptors in the members of a protocol.
        """

        def __get__(self, spec: object, owner: object = None) -> int: ...
        def __set__(self, spec: object, value: SupportsFloat) -> None: ...

    Number = Given[float, SupportsFloat]
    NumberOrNone = Given[float | None, SupportsFloat | None]

else:

    class Given(Generic[Read_co, Given_contra]):
        """An annotation only: at run time, no field is a descriptor."""

    Whole, Number, NumberOrNone = int, float, float | None

# `python -m bench.names` writes the rest. Annotations add `| str`, because packages register more names.
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
Privacy = Literal["none", "central", "shuffle", "local"]
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
Calibration = Literal["calibrated", "paper"]
Reports = Literal["all", "played"]
Bonus = Literal["anytime", "paper", "practical", "own"]
Rewards = Literal["known", "learned"]
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
Promise = Literal["zcdp", "pure", "approximate", "none"]
