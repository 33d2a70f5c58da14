"""A hook of mkdocs (mkdocs.yml): what `dynarm.border.memo` computes once is shown as a property, not as a method."""

from __future__ import annotations

from griffe import stdlib_decorators

stdlib_decorators["dynarm.border.memo.cached_property"] = {"cached", "property"}
