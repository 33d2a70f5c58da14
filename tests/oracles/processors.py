"""The processors that code is made for in the tests: this one, and smaller ones that it can stand in for."""

from __future__ import annotations

import dataclasses

import pytest

from dynarm.machine.llvm import Host, host

SMALLER = {  # lanes, fused multiply-adds, registers, features that are switched off
    "four lanes": (4, True, 11, ("avx512",)),
    "two lanes, nothing fused": (2, False, 11, ("avx", "fma", "f16c", "vaes", "vpclmulqdq", "xop")),
}


def target_named(name: str) -> Host:
    """The processor of that name; skips the test where this one cannot stand in for it."""
    native = host()
    if name == "this host":
        return native
    width, fused, registers, without = SMALLER[name]
    if native.width < width or (fused and not native.fused):
        pytest.skip(f"this processor has no {name}")
    features = [
        "-" + f[1:] if f[1:].startswith(without) else f for f in native.features.split(",") if f
    ]
    return dataclasses.replace(
        native, width=width, fused=fused, registers=registers, features=",".join(features)
    )
