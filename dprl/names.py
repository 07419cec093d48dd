"""Types of the fields of specs, for type checkers."""

from typing import TYPE_CHECKING, Generic, SupportsFloat, TypeVar

Read_co = TypeVar("Read_co", covariant=True)
Given_contra = TypeVar("Given_contra", contravariant=True)

if TYPE_CHECKING:

    class Given(Generic[Read_co, Given_contra]):
        """The type of a spec's field for a static checker: assigning accepts more types than reading returns.

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
        """Only an annotation: at run time, no field is a descriptor."""

    Whole, Number, NumberOrNone = int, float, float | None
