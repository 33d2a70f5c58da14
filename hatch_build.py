"""The project's page on a package index: README with pictures that show there, and links.

An index shows the README without the repository, so pictures and links need whole addresses. Where the repository is
published is said when a release is built (DYNARM_HOME=https://host/owner/dynarm, see CONTRIBUTING.md); in a build
without it pictures become their descriptions, links to files become plain words, and no address is invented.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r'<img src="(?P<path>[^"]+)"(?P<rest>[^>]*?) alt="(?P<alt>[^"]*)">')
LINK = re.compile(r"\[(?P<words>[^\]]+)\]\((?P<path>(?!https?:)[^)#]+)(?P<place>#[^)]*)?\)")


class Page(MetadataHookInterface):
    """Fills in what pyproject.toml declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        home = os.environ.get("DYNARM_HOME", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": readme(text, home)}
        metadata["urls"] = urls(home)


def readme(text: str, home: str) -> str:
    """The README as an index shows it."""
    if not home:
        return LINK.sub(lambda m: m["words"], PICTURE.sub(lambda m: f"*{m['alt']}*", text))
    text = PICTURE.sub(
        lambda m: f'<img src="{home}/raw/main/{m["path"]}"{m["rest"]} alt="{m["alt"]}">', text
    )
    return LINK.sub(
        lambda m: f"[{m['words']}]({home}/blob/main/{m['path']}{m['place'] or ''})", text
    )


def urls(home: str) -> dict[str, str]:
    """The links beside the page."""
    if not home:
        return {}
    return {
        "Homepage": home,
        "Documentation": f"{home}/tree/main/docs",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
