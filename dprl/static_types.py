"""Types of fields of specs that may be given as more than they are read as; for static checkers alone."""

from typing import TYPE_CHECKING, Generic, SupportsFloat, TypeVar

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
