"""Types of spec fields for type checkers."""

from typing import TYPE_CHECKING, Generic, SupportsFloat, TypeVar

Read_co = TypeVar("Read_co", covariant=True)
Given_contra = TypeVar("Given_contra", contravariant=True)

if TYPE_CHECKING:

    class Given(Generic[Read_co, Given_contra]):
        """A spec field that accepts more types when it is assigned than it returns when it is read."""

        def __get__(self, spec: object, owner: object = None) -> Read_co: ...
        def __set__(self, spec: object, value: Given_contra) -> None: ...

    class Whole(int):
        """A field stored as an int, even if it is given as 1e6 or as a NumPy integer."""

        def __get__(self, spec: object, owner: object = None) -> int: ...
        def __set__(self, spec: object, value: SupportsFloat) -> None: ...

    Number = Given[float, SupportsFloat]
    NumberOrNone = Given[float | None, SupportsFloat | None]

else:

    class Given(Generic[Read_co, Given_contra]):
        """A placeholder at run time, when no field is a descriptor."""

    Whole, Number, NumberOrNone = int, float, float | None
