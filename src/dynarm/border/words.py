"""What messages say about values and packages that came from outside: short, on one line, whatever they are."""

from __future__ import annotations

import reprlib
from typing import Any

_LONG = 100  # letters of a value that a message shows


class _Brief(reprlib.Repr):
    """Long collections cut before they are written: the text of a million numbers takes a while."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 20
        self.maxarray = self.maxdeque = 20
        self.maxstring = self.maxother = self.maxlong = 2 * _LONG

    def repr_str(self, x: str, level: int) -> str:
        return repr(x[: self.maxstring])

    def repr_instance(self, x: Any, level: int) -> str:
        shape = getattr(x, "shape", None)
        if isinstance(shape, tuple) and hasattr(x, "columns"):
            return f"{type(x).__name__} of shape {shape}"
        try:
            return repr(x)
        except Exception:  # of a class that is not ours
            return f"<{type(x).__name__}>"


def shown(value: Any) -> str:
    """The value as a message shows it: what Python would print, on one line, not too long."""
    text = " ".join(_Brief().repr(value).split())
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."


def extra(name: str) -> str:
    """The command that installs an extra of dynarm, for messages: from where dynarm itself was installed."""
    return f"pip install {_source(name)}"


def _source(name: str) -> str:
    """What pip must be given; without a record of an installation, an index is as good as any."""
    import json  # all of these only where something is missing
    import shlex
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        record = json.loads(distribution("dynarm").read_text("direct_url.json") or "{}")
        url = str(record.get("url", ""))
    except (PackageNotFoundError, ValueError, AttributeError, OSError):
        record, url = {}, ""
    if "dir_info" in record and url.startswith("file://"):
        folder = shlex.quote(f"{url2pathname(urlsplit(url).path)}[{name}]")
        return f"-e {folder}" if record["dir_info"].get("editable") else folder
    if "vcs_info" in record:
        url = f"{record['vcs_info'].get('vcs', 'git')}+{url}"
    return shlex.quote(f"dynarm[{name}] @ {url}" if url else f"dynarm[{name}]")
