"""Models that several tests of the simulation share: each kernel is compiled once."""

from __future__ import annotations

import pytest

import dynarm


@pytest.fixture(scope="session")
def stanford():
    return dynarm.compile(dynarm.load("stanford"))


@pytest.fixture(scope="session")
def puma():
    """With the motors' inertias: without them the wrist is stiff."""
    return dynarm.compile(dynarm.load("puma560"), friction=True)


@pytest.fixture(scope="session")
def two_link():
    return dynarm.compile(dynarm.load("two_link"))
