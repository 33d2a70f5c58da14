"""Properties computed once: like those of functools, without their lock."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest

import dynarm
from dynarm.border.memo import cached_property


@dataclasses.dataclass(frozen=True)
class Square:
    side: float

    @cached_property
    def area(self) -> list[float]:
        """Area [m2]."""
        return [self.side**2]


def test_it_is_computed_once_and_read_like_an_attribute():
    square = Square(3.0)
    assert "area" not in vars(square)
    assert square.area == [9.0] and square.area is square.area is vars(square)["area"]
    assert Square.area.__doc__ == "Area [m2]." and isinstance(Square.area, cached_property)


def test_it_may_have_another_name_than_its_function():
    class Shape:
        size = cached_property(lambda self: 4)

    shape = Shape()
    assert shape.size == 4 and vars(shape) == {"size": 4}


def test_an_error_is_not_kept():
    tries = []

    class Hesitant:
        @cached_property
        def answer(self) -> int:
            tries.append(1)
            if len(tries) == 1:
                raise ValueError("not yet")
            return 42

    asked = Hesitant()
    with pytest.raises(ValueError, match="not yet"):
        _ = asked.answer
    assert asked.answer == 42


def test_threads_that_ask_at_once_are_given_one_object():
    gate = threading.Barrier(4)

    class Slow:
        @cached_property
        def thing(self) -> object:
            gate.wait(30)  # all are inside: nobody is kept out by a lock
            return object()

    slow, given = Slow(), []
    threads = [threading.Thread(target=lambda: given.append(slow.thing)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(given) == 4 and len(set(map(id, given))) == 1 and slow.thing is given[0]


def test_no_source_uses_the_one_that_holds_a_lock():
    root = Path(dynarm.__file__).parent
    for path in root.rglob("*.py"):
        lines = [line for line in path.read_text().splitlines() if "cached_property" in line]
        assert not any("functools" in line and "import" in line for line in lines), path
