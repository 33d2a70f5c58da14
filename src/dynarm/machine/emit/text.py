"""LLVM assembly as text: names, integers, addresses, loops and branches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Text:
    """Collects the body of one function, line by line."""

    def __init__(self) -> None:
        self.text: list[str] = ["start:"]
        self.label = "start"  # of the block that is being written
        self.count = 0
        self.result = "void"  # what a return gives, such as `i64 0`

    def function(self, head: str, tail: str = "") -> list[str]:
        """The whole function: its head, such as `void @f(ptr %x)`, what was collected, and a return."""
        # without "no-builtins" a loop that copies would become a call of memcpy
        return [
            f'define {head} nounwind "no-builtins" {tail}{{',
            *self.text,
            f"ret {self.result}",
            "}",
        ]

    def put(self, expression: str) -> str:
        """The name of a new value."""
        self.count += 1
        name = f"%v{self.count}"
        self.text.append(f"{name} = {expression}")
        return name

    def line(self, text: str) -> None:
        self.text.append(text)

    def _begin(self, label: str) -> None:
        self.text.append(f"{label}:")
        self.label = label

    def whole(self, op: str, x: str | int, y: str | int) -> str:
        """An integer operation: add, sub, mul, sdiv, and ..."""
        return self.put(f"{op} i64 {x}, {y}")

    def smaller(self, x: str, y: str | int) -> str:
        """The smaller of two integers."""
        t = self.test("slt", x, y)
        return self.put(f"select i1 {t}, i64 {x}, i64 {y}")

    def test(self, relation: str, x: str, y: str | int) -> str:
        return self.put(f"icmp {relation} i64 {x}, {y}")

    def both(self, x: str, y: str) -> str:
        return self.put(f"and i1 {x}, {y}")

    def choose(self, condition: str, x: str | int, y: str | int) -> str:
        return self.put(f"select i1 {condition}, i64 {x}, i64 {y}")

    def ahead(self, base: str, offset: str | int) -> str:
        """An address so many bytes ahead."""
        return base if offset == 0 else self.put(f"getelementptr i8, ptr {base}, i64 {offset}")

    def entry(self, base: str, index: str | int, kind: str = "i64") -> str:
        """One entry of an array of integers or pointers."""
        place = self.put(f"getelementptr {kind}, ptr {base}, i64 {index}")
        return self.put(f"load {kind}, ptr {place}, align 8")

    def set_entry(self, base: str, index: str | int, value: str | int, kind: str = "i64") -> None:
        place = self.put(f"getelementptr {kind}, ptr {base}, i64 {index}")
        self.line(f"store {kind} {value}, ptr {place}, align 8")

    @contextmanager
    def repeat(self, times: str | int) -> Iterator[str]:
        """The body for 0, 1 ... times - 1; at least once. Yields the name of the counter."""
        self.count += 1
        k = self.count
        self.line(f"br label %loop{k}")
        before = self.label
        self._begin(f"loop{k}")
        place = len(self.text)
        self.text.append("")
        yield f"%i{k}"
        self.line(f"%n{k} = add nsw i64 %i{k}, 1")
        self.line(f"%m{k} = icmp slt i64 %n{k}, {times}")
        self.line(f"br i1 %m{k}, label %loop{k}, label %done{k}")
        self.text[place] = f"%i{k} = phi i64 [ 0, %{before} ], [ %n{k}, %{self.label} ]"
        self._begin(f"done{k}")

    @contextmanager
    def when(self, condition: str, rarely: bool = False, leave: bool = False) -> Iterator[None]:
        """The body if the condition holds; leave=True returns after it."""
        self.count += 1
        k = self.count
        hint = ", !prof !0" if rarely else ""
        self.line(f"br i1 {condition}, label %yes{k}, label %end{k}{hint}")
        self._begin(f"yes{k}")
        yield
        self.line(f"ret {self.result}" if leave else f"br label %end{k}")
        self._begin(f"end{k}")


# What branches that are taken rarely and stores past the caches refer to, once in a module.
RARELY = '!0 = !{!"branch_weights", i32 1, i32 1000000}'
PAST = "!1 = !{i32 1}"
