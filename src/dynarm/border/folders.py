"""Several files into one folder: all of them or none, inside that folder and nowhere else."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..errors import FileError


def check_folder(folder: Path, force: bool) -> Path:
    """The folder to write into: a new one, an empty one, or, with force, any. A link to a folder is that folder."""
    with _said(folder):
        if folder.is_symlink() and not folder.exists():
            raise FileError(f"{folder} is a link to nothing; remove it, or name another folder")
        if folder.exists() and not folder.is_dir():
            raise FileError(f"{folder} is a file; name a folder")
        if folder.is_dir() and any(folder.iterdir()) and not force:
            raise FileError(
                f"folder {folder} is not empty; name a new one, or force=True (--force) to write into it"
            )
    return folder


Files = Mapping[str, str | bytes]  # what each holds, by name


def write_folder(folder: Path, files: Files) -> None:
    """Files by name, which appear together: a new folder is renamed into place; in one that is there already files of
    the same names are replaced, keep their modes, and come back if anything goes wrong on the way.
    """
    with _said(folder):
        if folder.is_dir():
            _check_places(folder, files)
            with _draft(folder, files) as draft:
                _replace(draft, folder, files)
        else:
            with _room(folder.parent), _draft(folder.parent, files) as draft:
                os.rename(draft, folder)


@contextmanager
def _said(folder: Path) -> Iterator[None]:
    """Errors of the system in our words."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise FileError(
            f"cannot write to {folder}: {reason}; nothing was changed, name another folder"
        ) from None


def _check_places(folder: Path, names: Files) -> None:
    """A link would lead the writing somewhere else, and what is no file cannot be replaced by one."""
    for name in names:
        place = folder / name
        if place.is_symlink():
            raise FileError(f"{place} is a link; remove it, or name another folder")
        if place.exists() and not place.is_file():
            raise FileError(f"{place} is no ordinary file; remove it, or name another folder")


@contextmanager
def _room(folder: Path) -> Iterator[None]:
    """The folder with all above it; those that were made disappear again after an error."""
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for place in made:
            if place.is_dir():
                place.rmdir()
        raise


@contextmanager
def _draft(room: Path, files: Files) -> Iterator[Path]:
    """A folder in the room that holds the files, with the modes that new files have here."""
    draft = room / f".dynarm-{secrets.token_hex(6)}"
    draft.mkdir()
    try:
        for name, content in files.items():
            if isinstance(content, bytes):
                (draft / name).write_bytes(content)
            else:
                (draft / name).write_text(content, encoding="utf-8", newline="\n")
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _replace(draft: Path, folder: Path, names: Files) -> None:
    old = draft / "old"
    old.mkdir()
    for name in names:
        place = folder / name
        if place.exists():
            shutil.copy2(place, old / name)
            (draft / name).chmod(stat.S_IMODE(place.stat().st_mode))
    done: list[str] = []
    try:
        for name in names:
            os.replace(draft / name, folder / name)
            done.append(name)
    except BaseException:
        for name in done:
            if (old / name).exists():
                os.replace(old / name, folder / name)
            else:
                (folder / name).unlink()
        raise
