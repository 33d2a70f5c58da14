"""How to install what is missing: the extras of dynarm, from where dynarm itself was installed."""

from __future__ import annotations


def extra(name: str) -> str:
    """The command that installs an extra of dynarm, as a message shows it."""
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
