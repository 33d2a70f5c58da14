"""Files that commands write: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..border.arguments import path_of
from ..border.written import drafted
from ..errors import FileError

if TYPE_CHECKING:
    from ..identify.logs.log import Log


def check_folder(folder: str | os.PathLike[str], force: bool) -> Path:
    """The folder that results shall go to; refused before the work begins where it cannot be made."""
    target = path_of("--out", folder, "the name of a folder")
    if target.exists() and not target.is_dir():
        raise FileError(f"{target} is a file; name a folder")
    if target.is_dir() and any(target.iterdir()) and not force:
        raise FileError(
            f"folder {target} is not empty; name another one, or --force to write into it"
        )
    above = target.absolute().parent
    if not above.is_dir():
        raise FileError(
            f"there is no folder {target.parent} for {target.name}; make it first, or name another"
        )
    if not os.access(target if target.is_dir() else above, os.W_OK):
        raise FileError(f"no permission to write to {target}; name another folder")
    return target


@contextlib.contextmanager
def new_folder(folder: str | os.PathLike[str], force: bool = False) -> Iterator[Path]:
    """A draft folder to write into; it takes the folder's place when all went well, else it disappears.

    With force, files of an existing folder that have the same names are replaced.
    """
    target = Path(os.path.realpath(check_folder(folder, force)))  # a link leads where it led
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.absolute().parent))
    except OSError as error:
        raise FileError(
            f"cannot write beside {target}: {error.strerror}; name another folder"
        ) from None
    try:
        draft.chmod(_mode(target, 0o777 & ~_umask()))
        yield draft
        _move(draft, target)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"cannot write to {target}: {error.strerror or error}; nothing was left behind"
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _mode(place: Path, otherwise: int) -> int:
    """Who may do what with a file or folder: as it is where there is one."""
    return stat.S_IMODE(place.stat().st_mode) if place.exists() else otherwise


def _umask() -> int:
    """What this process withholds from new files; it can only be asked by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _move(draft: Path, target: Path) -> None:
    if not (target.is_dir() and any(target.iterdir())):
        os.replace(draft, target)
        return
    for item in draft.iterdir():
        place = target / item.name
        item.chmod(_mode(place, stat.S_IMODE(item.stat().st_mode)))
        if place.is_dir() and not place.is_symlink():
            old = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
            os.replace(place, old)
            os.replace(item, place)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.replace(item, place)


def write_log(log: Log, path: str | os.PathLike[str]) -> None:
    """A log as CSV: t, then q1 ..., qd1 ... where there are velocities, tau1 ..."""
    import numpy as np

    columns = [("t", log.t[:, None]), ("q", log.q), ("qd", log.qd), ("tau", log.tau)]
    present = [(name, x) for name, x in columns if x is not None]
    head = ["t"] + [f"{name}{k + 1}" for name, x in present[1:] for k in range(x.shape[1])]
    table = np.column_stack([x for _, x in present])
    with drafted(Path(path)) as draft:
        np.savetxt(draft, table, delimiter=",", header=",".join(head), comments="", fmt="%.9g")
