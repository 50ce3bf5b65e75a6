"""What a view of a part of the state is not: a plain object that is true, counted, iterated.

Views of larger parts hold no values, so Python's defaults would answer for them: a log would always
be true, and never equal to its copy. Each is refused, plain and captured alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn

from model.language.refusal import refuse


class View:
    """A view of a part of the state. `_words` name it, `_instead` says what to write, by what is
    refused."""

    __slots__ = ()
    _words: ClassVar[str] = "a part of the state"
    _instead: ClassVar[dict[str, str]] = {}

    def _refuse(self, what: str) -> NoReturn:
        instead = self._instead.get(what, "a comparison or assignment of its variables")
        refuse(f"{what} of {self._words}: write {instead}")

    def __bool__(self) -> bool:
        return self._refuse("truth")

    def __len__(self) -> int:
        return self._refuse("len()")

    def __contains__(self, member: object) -> bool:
        return self._refuse("`in`")

    def __iter__(self) -> Iterator[Any]:
        return self._refuse("iteration")

    def __reversed__(self) -> Iterator[Any]:
        return self._refuse("reversed()")

    def __eq__(self, other: object) -> bool:
        return self._refuse("==")

    def __hash__(self) -> int:
        return self._refuse("hash()")

    def _arithmetic(self, _: object) -> NoReturn:
        self._refuse("arithmetic or an order")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _arithmetic
    __lt__ = __le__ = __gt__ = __ge__ = _arithmetic
