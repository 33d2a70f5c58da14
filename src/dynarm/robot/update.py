"""Robot files of others with our numbers in them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..border.arguments import flag, path_of
from ..border.files import content, named
from ..border.kinds import Outside
from ..border.written import drafted
from ..errors import DynarmWarning, FileError, FormatError, InputError
from .files import MAX_URDF, expand_xacro
from .formats.mjcf_update import updated_mjcf
from .formats.urdf_update import Updated, updated_urdf

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
    source, target = _files(original, new, force, (".urdf", ".xacro"), (".urdf",))
    if source.suffix.lower() == ".xacro":
        before = expand_xacro(source, named(source), xacro, packages)
    elif xacro is None and packages is None:
        before = content(source, MAX_URDF)
    else:
        raise InputError(
            f"xacro and packages are for .xacro files; '{named(source)}' is none, leave them out"
        )
    folders = (source.parent, target.parent)
    return _written(target, updated_urdf(arm, before, named(source), folders))


def update_mjcf(
    arm: Arm,
    original: str | os.PathLike[str],
    new: str | os.PathLike[str],
    force: bool = False,
    packages: Outside = None,
) -> tuple[str, ...]:
    """Write the original with other inertials, armature, damping and frictionloss; what a reader should know."""
    endings = (".xml", ".mjcf")
    source, target = _files(original, new, force, endings, endings)
    before = content(source, MAX_URDF)
    return _written(target, updated_mjcf(arm, before, named(source), source, target, packages))


def _files(
    original: Outside, new: Outside, force: Outside, read: Sequence[str], written: Sequence[str]
) -> tuple[Path, Path]:
    """Where the original is, and where the new file shall be; which endings they may have."""
    source = path_of("original", original, f"the name of a {' or '.join(read)} file")
    target = path_of("new", new, f"the name of a {' or '.join(written)} file")
    if target.suffix.lower() not in written:
        raise FormatError(f"cannot write '{named(target)}'; end the name in {' or '.join(written)}")
    if not flag("force", force) and _same(source, target):
        raise FileError(
            f"{named(target)} is the original; name a new file, or force=True to replace it"
        )
    return source, target


def _written(target: Path, after: Updated) -> tuple[str, ...]:
    with drafted(target) as draft:
        draft.write_bytes(after.content)
    if after.doubts:
        warnings.warn("; ".join(after.doubts), DynarmWarning, stacklevel=4)
    return after.notes


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False
