"""The hosts that code is made for and run on in the tests: every kind that this processor can be."""

from __future__ import annotations

from dynarm.machine.host import Host, kinds, native

KINDS = kinds(native())
# One of each width: what does not depend on how sums are rounded
WIDTHS = {name: kind for name, kind in KINDS.items() if kind.fused == native().fused}
VECTORS = {name: kind for name, kind in WIDTHS.items() if kind.width > 1}
WOVEN = {f"{name}, woven": kind.tuned(woven=True) for name, kind in VECTORS.items()}


def host_named(name: str) -> Host:
    """The kind of that name, or one with woven kernels."""
    return {**KINDS, **WOVEN}[name]
