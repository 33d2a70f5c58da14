"""Expressions of robot files, computed without Python's own `eval`: arithmetic, comparisons, lists, a few functions.

Python's grammar reads them, and what may be computed is listed here: numbers, texts, truths, lists, tuples, tables,
sets, indices, operators, `a if b else c`, comprehensions, calls of functions that the caller hands in, and the methods
of texts, lists and tables below. Names and attributes with two underscores, lambdas, assignments, formatting by
`format` and everything else are refused by name, so that no expression reaches an object that it was not given.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...border.kinds import Outside
from ...errors import FormatError

LONGEST = 20_000  # letters of an expression
LARGEST = 1 << 20  # bits of a whole number, letters of a text, entries of a list
_BINARY: Mapping[type, Callable[[Outside, Outside], Outside]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: Mapping[type, Callable[[Outside], Outside]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_COMPARED: Mapping[type, Callable[[Outside, Outside], Outside]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        (
            *(
                "capitalize",
                "count",
                "endswith",
                "find",
                "index",
                "isalnum",
                "isalpha",
                "isdecimal",
            ),
            *("isdigit", "islower", "isnumeric", "isspace", "isupper", "join", "lower", "lstrip"),
            *("partition", "replace", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split"),
            *("splitlines", "startswith", "strip", "title", "upper"),
        )
    ),
    list: frozenset(("index", "count", "copy")),
    tuple: frozenset(("index", "count")),
    dict: frozenset(("get", "items", "keys", "values")),
    float: frozenset(("is_integer",)),
}
_INDEXED = (str, list, tuple, dict, range)


class _Refused(Exception):
    """What an expression holds that is not computed."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What expressions of a kind may use."""

    functions: frozenset[int]  # identities of the functions that may be called
    spaces: tuple[type, ...] = ()  # tables whose entries are also written as attributes: math.pi


def evaluated(text: str, names: Mapping[str, Outside], rules: Rules) -> Outside:
    """The value of an expression in which these names have a meaning; FormatError says what of it is not computed."""
    text = text.strip()
    if len(text) > LONGEST:
        raise FormatError(f"an expression has {len(text)} letters; at most {LONGEST} are read")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormatError(f"'{text[:80]}' is no expression; mend it") from None
    try:
        return _Evaluation(names, rules).value(tree.body)
    except _Refused as error:
        raise FormatError(f"{error} is not computed, in '{text[:80]}'; write it plainly") from None


class _Evaluation:
    """One expression: a method for each kind of part."""

    def __init__(self, names: Mapping[str, Outside], rules: Rules) -> None:
        self.names, self.rules = names, rules
        self.local: dict[str, Outside] = {}

    def value(self, node: ast.AST) -> Outside:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise _Refused(f"<{type(node).__name__}>")
        return method(node)

    def _constant(self, node: ast.Constant) -> Outside:
        if isinstance(node.value, (bytes, complex)) or node.value is ...:
            raise _Refused(f"a value such as {node.value!r}")
        return node.value

    def _name(self, node: ast.Name) -> Outside:
        if node.id.startswith("__"):
            raise _Refused(f"the name {node.id}")
        if node.id in self.local:
            return self.local[node.id]
        try:
            return self.names[node.id]
        except KeyError:
            raise FormatError(f"name '{node.id}' is not defined; define it, or give it") from None

    def _binop(self, node: ast.BinOp) -> Outside:
        if type(node.op) not in _BINARY:
            raise _Refused(f"the operator {type(node.op).__name__}")
        left, right = self.value(node.left), self.value(node.right)
        _check_size(type(node.op), left, right)
        return _BINARY[type(node.op)](left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Outside:
        return _UNARY[type(node.op)](self.value(node.operand))

    def _boolop(self, node: ast.BoolOp) -> Outside:
        stops = isinstance(node.op, ast.Or)
        for part in node.values:
            value = self.value(part)
            if bool(value) == stops:
                break
        return value

    def _compare(self, node: ast.Compare) -> Outside:
        left = self.value(node.left)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not _COMPARED[type(op)](left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp) -> Outside:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _list(self, node: ast.List) -> Outside:
        return [self.value(part) for part in node.elts]

    def _tuple(self, node: ast.Tuple) -> Outside:
        return tuple(self.value(part) for part in node.elts)

    def _set(self, node: ast.Set) -> Outside:
        return {self.value(part) for part in node.elts}

    def _dict(self, node: ast.Dict) -> Outside:
        if None in node.keys:
            raise _Refused("**")
        pairs = zip(node.keys, node.values, strict=True)
        return {self.value(key): self.value(part) for key, part in pairs if key is not None}

    def _subscript(self, node: ast.Subscript) -> Outside:
        holder = self.value(node.value)
        if not _is_one(holder, (*_INDEXED, *self.rules.spaces)):
            raise _Refused(f"an index of {type(holder).__name__}")
        return holder[self.value(node.slice)]

    def _slice(self, node: ast.Slice) -> Outside:
        ends = (
            None if part is None else self.value(part)
            for part in (node.lower, node.upper, node.step)
        )
        return slice(*ends)

    def _attribute(self, node: ast.Attribute) -> Outside:
        holder, name = self.value(node.value), node.attr
        if name.startswith("_"):
            raise _Refused(f"the attribute {name}")
        if _is_one(holder, self.rules.spaces):
            if name not in holder:
                raise FormatError(
                    f"{ast.unparse(node)[:80]} is not defined; define it, or leave it out"
                )
            return holder[name]
        for kind, methods in METHODS.items():
            if _is_one(holder, (kind,)):
                if kind is dict and name in holder:
                    return holder[name]
                if name in methods:
                    return getattr(holder, name)
        raise _Refused(f"the attribute {name} of {type(holder).__name__}")

    def _call(self, node: ast.Call) -> Outside:
        function = self.value(node.func)
        if id(function) not in self.rules.functions and not _is_method(function):
            raise _Refused(f"a call of {ast.unparse(node.func)[:40]}")
        words = {}
        for word in node.keywords:
            if word.arg is None:
                raise _Refused("**")
            words[word.arg] = self.value(word.value)
        return function(*(self.value(part) for part in node.args), **words)

    # ---- comprehensions

    def _listcomp(self, node: ast.ListComp) -> Outside:
        return [self.value(node.elt) for _ in self._rounds(node.generators)]

    def _generatorexp(self, node: ast.GeneratorExp) -> Outside:
        return [self.value(node.elt) for _ in self._rounds(node.generators)]

    def _setcomp(self, node: ast.SetComp) -> Outside:
        return {self.value(node.elt) for _ in self._rounds(node.generators)}

    def _dictcomp(self, node: ast.DictComp) -> Outside:
        return {self.value(node.key): self.value(node.value) for _ in self._rounds(node.generators)}

    def _rounds(self, loops: Sequence[ast.comprehension]) -> Iterator[None]:
        if not loops:
            yield
            return
        first, *others = loops
        before = dict(self.local)
        for item in self.value(first.iter):
            self._bind(first.target, item)
            if all(self.value(test) for test in first.ifs):
                yield from self._rounds(others)
        self.local = before

    def _bind(self, target: ast.AST, item: Outside) -> None:
        if isinstance(target, ast.Name) and not target.id.startswith("__"):
            self.local[target.id] = item
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part, one in zip(target.elts, item, strict=True):
                self._bind(part, one)
        else:
            raise _Refused("such a loop")


def _check_size(op: type, left: Outside, right: Outside) -> None:
    """Refuse what would only take time and memory: powers of thousands of digits, texts and lists without end."""
    size = 0
    if op is ast.Mult:
        for many, times in ((left, right), (right, left)):
            if isinstance(many, (str, list, tuple)) and isinstance(times, int):
                size = len(many) * times
    elif isinstance(left, int) and isinstance(right, int) and right > 0:
        if op is ast.Pow and abs(left) > 1:
            size = left.bit_length() * right
        elif op is ast.LShift:
            size = left.bit_length() + right
    if size > LARGEST:
        raise _Refused(f"a value of a size of {size:.0e}" if size < 10**300 else "so large a value")


def _is_one(value: Outside, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds)


def _is_method(function: Outside) -> bool:
    """Whether it is a method that `METHODS` lists, bound to a value."""
    holder, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    return any(isinstance(holder, kind) and name in methods for kind, methods in METHODS.items())
