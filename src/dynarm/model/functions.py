"""The methods and the bare gufuncs of a model, by quantity."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np

from ..border.frames import check_out, is_plain, unlabelled
from ..border.kinds import Cell, FloatArray, Foreign, Maker, Outside, Pickled
from ..graph.graph import Port
from ..machine.load.compiled import Kernel
from ..plan.quantities import QUANTITIES

if TYPE_CHECKING:
    from .calls import Calls


Method = TypeVar("Method", bound=Maker)
METHODS: dict[str, tuple[Maker, Maker]] = {}  # as written, as called


def quickly(method: Method) -> Method:
    """The method of a quantity, left to its builtin (or to a bare gufunc) once there is one."""
    name = method.__name__

    @wraps(method)
    def call(self: Calls, *state: Outside, **options: Outside) -> FloatArray:
        quick = self._quick.get(name)
        made: FloatArray = quick(*state, **options) if quick else method(self, *state, **options)
        return made

    METHODS[name] = method, call
    return cast(Method, call)


class Function:
    """A NumPy gufunc, with all that one has; `ufunc` is the gufunc itself.

    NumPy asks a DataFrame, a masked array or a tensor what a gufunc does to it, and they know gufuncs that go entry by
    entry only. So such arguments are made plain arrays first, columns by name; what comes of them is a plain array.
    """

    __slots__ = ("_names", "_ports", "_quick", "_source", "ufunc")

    def __init__(
        self,
        ufunc: np.ufunc,
        ports: Sequence[Port],
        names: Callable[[str], Sequence[str]],
        source: tuple[Mapping[str, np.ufunc], str],
        quick: Maker | None = None,
    ):
        self.ufunc, self._ports, self._names, self._source = ufunc, ports, names, source
        self._quick = quick  # the method's own builtin: the same kernel without NumPy's dispatch

    def __call__(self, *args: Outside, **options: Outside) -> Outside:
        if self._quick is not None and not options and len(args) == len(self._ports):
            return self._quick(*args)
        if not all(map(is_plain, args)):
            given = zip(args, self._ports, strict=False)
            args = tuple(plain(x, port, self._names) for x, port in given) + args[self.ufunc.nin :]
            check_out(args[self.ufunc.nin :])
        if "out" in options:
            check_out(options["out"])
        return self.ufunc(*args, **options)

    # for `isinstance`: whoever asks for a ufunc has one
    __class__ = property(lambda self: np.ufunc)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self.ufunc.__doc__

    def __getattr__(self, name: str) -> Foreign:
        if name in Function.__slots__:
            raise AttributeError(name)
        return getattr(self.ufunc, name)

    def __dir__(self) -> list[str]:
        return sorted({*dir(self.ufunc), "ufunc"})

    def __repr__(self) -> str:
        return f"<dynarm function '{self._source[1]}' {self.ufunc.signature}>"

    def __reduce__(self) -> Pickled:
        return operator.getitem, self._source

    def __eq__(self, other: object) -> bool:
        mine = getattr(other, "ufunc", other)
        return bool(mine is self.ufunc)

    def __hash__(self) -> int:
        return hash(self.ufunc)


def plain(value: Outside, port: Port, names: Callable[[str], Sequence[str]]) -> Outside:
    """An argument as NumPy alone understands it, columns in the order of the port's names."""
    return value if is_plain(value) else unlabelled(value, names(port.name), port.name)


def model_sheet(model: Calls) -> tuple[str, tuple[str, ...], list[tuple[Cell, ...]]]:
    """Title, head and rows of a model's table; nothing is compiled for it."""
    rows: list[tuple[Cell, ...]] = []
    for name in QUANTITIES:
        known = model._kernels.get(name)
        chosen = dict.fromkeys(known.notes["formulation"].values()) if known else {}
        rows.append((name, "yes" if known else "when first used", ", ".join(chosen)))
    return repr(model).strip("<>"), ("quantity", "compiled", "formulation"), rows


class Compiling(Protocol):
    """What has functions by name that are compiled when first asked for: a model, or a robot on wheels."""

    @property
    def _quick(self) -> Mapping[str, Maker]: ...  # builtins of methods

    def kernel(self, key: str) -> Kernel: ...

    def ports(self, key: str) -> tuple[tuple[Port, ...], tuple[Port, ...]]: ...

    def entry_names(self, port: str) -> Sequence[str]: ...


def quantity_names(memory: bool = False) -> Iterator[str]:
    """The functions of an arm's model; memory: whether its friction has any."""
    for quantity in QUANTITIES.values():
        for wrench in ("", ":wrench") if quantity.takes_wrench else ("",):
            yield f"{quantity.name}{wrench}"
            if memory and quantity.feels_friction:
                yield f"{quantity.name}{wrench}:friction_state"


class Functions(Mapping[str, np.ufunc]):
    """The bare NumPy gufuncs of a model by quantity; compiled when first asked for.

    `name` takes the state alone, `name:wrench` (inverse and forward dynamics) the tool wrench as well, and
    `name:friction_state` where friction has memory. Each also takes
    DataFrames and the like (see `Function`).
    """

    def __init__(self, model: Compiling, names: Callable[[], Iterable[str]] = quantity_names):
        self._model, self._names = model, names
        self._made: dict[str, Function] = {}

    def __getitem__(self, key: str) -> np.ufunc:
        made = self._made.get(key) if isinstance(key, str) else None
        if made is None:
            model = self._model
            ufunc = model.kernel(key).ufunc  # refuses what is no name
            quick = model._quick.get(key)
            made = Function(ufunc, model.ports(key)[0], model.entry_names, (self, key), quick)
            self._made[key] = made
        return made  # type: ignore[return-value]

    def __reduce__(self) -> Pickled:
        return operator.attrgetter("functions"), (self._model,)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, key: object) -> bool:
        return key in set(self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
