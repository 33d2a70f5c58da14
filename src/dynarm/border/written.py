"""The one writer of files: what was there stays whole until the new content has taken its place.

A link is followed to the file that it names, as every editor does; the file keeps its permissions and its owner. A
new file gets those that the system gives new files. Folders, pipes and devices are refused, and so is a file that is
protected against writing, though the folder would let it be replaced.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import FileError
from .files import named

_ENDING = 16  # letters of an ending that the draft carries on


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """A file beside the target to write to, which takes its name in one step.

    A reader sees the old file or the new one; after an error nothing is left.
    """
    try:
        place = Path(os.path.realpath(target))
        before = _before(place, target)
        # the name is the draft's own: with the target's in it, it might be longer than names may be
        ending = place.suffix if len(os.fsencode(place.suffix)) <= _ENDING else ""
        draft = place.parent / f".{secrets.token_hex(8)}{ending}"
        try:
            # nobody may read the draft who may not read the file
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL, 0o600 if before else 0o666))
            os.utime(draft, ns=(0, 0))
            yield draft
            if os.stat(draft).st_mtime_ns == 0:
                raise OSError("nothing was written")
            _keep(draft, before)
            os.replace(draft, place)
        finally:
            draft.unlink(missing_ok=True)
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"cannot write {named(target)}: {error.strerror or error}; check folder and rights"
        ) from None
    except UnicodeEncodeError:
        raise FileError(f"cannot write {named(target)}: no path of this system") from None


def _before(place: Path, target: Path) -> os.stat_result | None:
    """What is known of the file that will be replaced; None where there is none."""
    try:
        state = os.lstat(place)
    except FileNotFoundError:
        return None
    # realpath follows all links but those that lead back to themselves
    if stat.S_ISLNK(state.st_mode):
        raise FileError(f"cannot write {named(target)}: it is a link that leads nowhere")
    if not stat.S_ISREG(state.st_mode):
        kind = "a folder" if stat.S_ISDIR(state.st_mode) else "a pipe, a socket or a device"
        raise FileError(f"cannot write {named(target)}: it is {kind}; name a file")
    if not os.access(place, os.W_OK):
        raise FileError(
            f"cannot write {named(target)}: it is protected against writing; name another file"
        )
    return state


def _keep(draft: Path, before: os.stat_result | None) -> None:
    """Put the draft on the disk, with the owner and the permissions of the file before."""
    handle = os.open(draft, os.O_RDWR)
    try:
        if before is not None:
            now = os.fstat(handle)
            if hasattr(os, "fchown") and (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
                with suppress(PermissionError):
                    os.fchown(handle, before.st_uid, before.st_gid)
            os.chmod(draft, stat.S_IMODE(before.st_mode))
        os.fsync(handle)
    finally:
        os.close(handle)
