"""Robot files of others with our numbers in them."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ..border.arguments import flag, path_of
from ..border.files import content, named
from ..border.kinds import Outside
from ..border.written import drafted
from ..errors import DynarmWarning, FileError, FormatError, InputError
from .files import MAX_URDF, expand_xacro
from .formats.urdf_update import updated_urdf

if TYPE_CHECKING:
    from .arm import Arm


def update_urdf(
    arm: Arm,
    original: str | os.PathLike[str],
    new: str | os.PathLike[str],
    force: bool = False,
    xacro: Outside = None,
    packages: Outside = None,
) -> tuple[str, ...]:
    """Write the original with other inertials and <dynamics>; what a reader of the new file should know."""
    source = path_of("original", original, "the name of a .urdf or .xacro file")
    target = path_of("new", new, "the name of a .urdf file")
    if target.suffix.lower() != ".urdf":
        raise FormatError(f"cannot write '{named(target)}'; end the name in .urdf")
    if source.suffix.lower() == ".xacro":
        before = expand_xacro(source, named(source), xacro, packages)
    elif xacro is None and packages is None:
        before = content(source, MAX_URDF)
    else:
        raise InputError(
            f"xacro and packages are for .xacro files; '{named(source)}' is none, leave them out"
        )
    if not flag("force", force) and _same(source, target):
        raise FileError(
            f"{named(target)} is the original; name a new file, or force=True to replace it"
        )
    after = updated_urdf(arm, before, named(source), (source.parent, target.parent))
    with drafted(target) as draft:
        draft.write_bytes(after.content)
    if after.doubts:
        warnings.warn("; ".join(after.doubts), DynarmWarning, stacklevel=3)
    return after.notes


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False
