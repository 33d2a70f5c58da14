"""A hook of mkdocs (mkdocs.yml): what `dynarm.memo` computes once is shown as a property, not as a method."""

from __future__ import annotations

from griffe import stdlib_decorators

stdlib_decorators["dynarm.memo.cached_property"] = {"cached", "property"}
