"""An MJCF model and the files that it names, as one text that MuJoCo compiles without opening any file.

Includes are put in place here, as MuJoCo puts them (looked for beside the main file, then beside the including one;
each file once). Files are read only below the main file's folder and those of packages that the user names. What has no
part in dynamics is left out: visuals, sensors, contacts, keyframes, skins; textures and height fields become one point.
Meshes are stand-ins of a given size: where two sizes give the same inertias, nobody needs the meshes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ...border.digits import written
from ...border.files import content as file_content
from ...border.files import named
from ...border.kinds import Outside
from ...errors import FileError, FormatError
from .elements import Element, parse
from .packages import package_folders
from .xml_text import quoted

MAX_FILE = 16 * 2**20  # bytes of a model, and of each that it includes
MAX_FILES = 1000
MAX_EXPANDED = 50_000  # elements of a model with its copies
MAX_ASSETS = 192 * 2**20  # bytes of all meshes together
_UNUSED = frozenset(
    ("visual", "statistic", "keyframe", "sensor", "contact", "size", "custom", "skin")
)
# lengths of muscles, which MuJoCo finds by simulation, are nobody's concern here
_NO_LENGTHS = '<compiler><lengthrange mode="none"/></compiler>'
_SOFT = ("flex", "flexcomp")
_FOLDERS = ("assetdir", "meshdir", "texturedir", "strippath", "fusestatic", "discardvisual")
_MESH_FILE = ("file", "content_type", "smoothnormal")
_PICTURE = ("name", "class", "type", "rgb1", "rgb2")


@dataclass(frozen=True, slots=True)
class Places:
    """Folders below which files are read: that of the main file, and those of packages."""

    folders: tuple[Path, ...]
    source: str

    @classmethod
    def of(cls, path: Path, source: str, packages: Outside = None) -> Places:
        given = package_folders(packages).values()
        return cls((path.absolute().parent.resolve(), *map(Path, given)), source)

    def allowed(self, file: str, starts: Sequence[Path]) -> Path:
        """The file a model names, taken from one of the folders `starts`: the first that has it."""
        written = file.replace("\\", "/")
        if "\0" in written or not written.strip():
            raise FormatError(f"{self.source}: file {file[:60]!r} is no path; name a file")
        places = [start / written for start in starts]
        try:
            place = next((p for p in places if p.is_file()), places[0]).resolve()
        except (OSError, RuntimeError, ValueError):
            raise FileError(f"{self.source}: file '{named(file)}' is no path here") from None
        if not any(place.is_relative_to(folder) for folder in self.folders):
            raise FormatError(
                f"{self.source} names the file '{named(file)}', which is not below its own folder; move it there, or "
                "name a folder that holds both: packages={'name': 'folder'}"
            )
        return place


@dataclass(slots=True)
class Spent:
    """How many files a model has named so far, and which models are open."""

    files: int = 0
    open: list[Path] = field(default_factory=list)

    def spend(self, source: str) -> None:
        self.files += 1
        if self.files > MAX_FILES:
            raise FormatError(f"{source} names more than {MAX_FILES} files; a robot needs fewer")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A file that a model is made of: the main one, or one that stands in the place of an <include>."""

    content: bytes
    include: int = -1  # the byte of that <include> in the file that has it
    within: int = -1  # which part that is


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A model with its includes in place, and the folder from which its other files are taken."""

    root: Element
    folder: Path
    places: Places
    models: dict[str, Document]  # by the file that <model> names
    parts: tuple[Part, ...]
    owners: dict[int, int]  # ids of elements that stand in another part than the main one

    @property
    def directories(self) -> tuple[dict[str, str], bool]:
        """Where meshes and models are, as <compiler> says, and whether the paths of files are cut off."""
        said: dict[str, str] = {}
        for compiler in self.root.all("compiler"):
            said.update(compiler.attributes)
        meshes = said.get("meshdir", said.get("assetdir", ""))
        return {"mesh": meshes, "model": said.get("assetdir", "")}, said.get("strippath") == "true"

    def located(self, kind: str, file: str) -> Path:
        directories, stripped = self.directories
        name = PurePosixPath(file.replace("\\", "/")).name if stripped else file
        return self.places.allowed(name, [self.folder / directories[kind]])

    def meshes(self) -> Iterator[str]:
        """The files of meshes, of attached models too."""
        for element in all_of(self.root, "mesh"):
            if "file" in element.attributes:
                yield element.attributes["file"]
        for model in self.models.values():
            yield from model.meshes()


def read_document(text: bytes, path: Path, places: Places, budget: Spent | None = None) -> Document:
    """The model in the text of a file, and those that it attaches."""
    budget = budget or Spent()
    folder = path.absolute().parent
    if path.absolute() in budget.open:
        raise FormatError(f"{places.source} attaches '{path.name}' to itself; take that out")
    budget.open.append(path.absolute())
    root = _parsed(text, places.source)
    if root.tag != "mujoco":
        raise FormatError(_other(root.tag, places.source))
    includes = _Includes(folder, places, budget, [Part(text)])
    includes.resolve(root, 0, [folder])
    for tag in _SOFT:
        if any(all_of(root, tag)):
            raise FormatError(
                f"{places.source} has a <{tag}>, a body that deforms; dynarm models rigid links, take it out"
            )
    document = Document(root, folder, places, {}, tuple(includes.parts), includes.owners)
    for element in all_of(root, "model"):
        file = element.attributes.get("file", "")
        place = document.located("model", file)
        budget.spend(places.source)
        document.models[file] = read_document(file_content(place, MAX_FILE), place, places, budget)
    budget.open.pop()
    if not budget.open and expanded(document) > MAX_EXPANDED:
        raise FormatError(
            f"{places.source}: <replicate> and <attach> make more than {MAX_EXPANDED} elements of it; a robot has fewer"
        )
    return document


def expanded(document: Document) -> float:
    """How many elements a model has with all copies that <replicate> and <attach> make."""
    models = {}
    for element in all_of(document.root, "model"):
        said = element.attributes
        inner = document.models[said.get("file", "")]
        models[said.get("name", inner.root.attributes.get("model", ""))] = expanded(inner)

    def size(element: Element) -> float:
        inside = 1.0 + sum(map(size, element.children))
        if element.tag == "attach":
            inside += models.get(element.attributes.get("model", ""), 0.0)
        return inside * _copies(element) if element.tag == "replicate" else inside

    return size(document.root)


def _copies(replicate: Element) -> float:
    try:
        return max(written(replicate.attributes.get("count", "1")), 1.0)
    except ValueError:
        return 1.0  # MuJoCo says what is wrong with it


def _parsed(text: bytes, source: str) -> Element:
    return parse(text, source, frozenset())


def _other(tag: str, source: str) -> str:
    if tag == "robot":
        return f"{source} is a URDF (its root is <robot>); rename it to end in .urdf"
    if tag == "mujocoinclude":
        return f"{source} is a part of a model (<mujocoinclude>); give the file that includes it"
    return f"{source}: the root element is <{tag[:40]}>, not <mujoco>; give an MJCF model"


@dataclass(slots=True, eq=False)
class _Includes:
    """Puts the content of included files in the place of <include>."""

    folder: Path
    places: Places
    budget: Spent
    parts: list[Part]
    owners: dict[int, int] = field(default_factory=dict)
    seen: set[Path] = field(default_factory=set)

    def resolve(self, element: Element, part: int, starts: Sequence[Path]) -> None:
        """In all of an element of a part, whose files are looked for in the folders `starts`."""
        children: list[Element] = []
        for child in element.children:
            if child.tag == "include":
                children += self._content(child, part, starts)
                continue
            if part:
                self.owners[id(child)] = part
            self.resolve(child, part, starts)
            children.append(child)
        element.children[:] = children

    def _content(self, include: Element, part: int, starts: Sequence[Path]) -> list[Element]:
        source = self.places.source
        place = self.places.allowed(include.attributes.get("file", ""), starts)
        if place in self.seen:
            raise FormatError(
                f"{source}, line {include.line}: '{place.name}' is included twice; MuJoCo takes a file once"
            )
        self.seen.add(place)
        self.budget.spend(source)
        content = file_content(place, MAX_FILE)
        root = _parsed(content, f"{source}: {place.name}")
        self.parts.append(Part(content, include.start, part))
        self.resolve(root, len(self.parts) - 1, [self.folder, place.parent])
        return root.children


def all_of(element: Element, tag: str) -> Iterator[Element]:
    for child in element.children:
        if child.tag == tag:
            yield child
        yield from all_of(child, tag)


# ---- the text for MuJoCo


def stand_in_text(document: Document, size: float) -> tuple[str, dict[str, bytes]]:
    """The model with stand-ins of the given size for all meshes; what it needs besides: attached models."""
    writer = _Flattened(size)
    return writer.text(document), writer.assets


def full_text(document: Document) -> tuple[str, dict[str, bytes]]:
    """The model with its meshes, whose bytes come with it."""
    writer = _Flattened(None)
    return writer.text(document), writer.assets


class _Flattened:
    """Writes documents; collects what they name under names that exist nowhere else."""

    def __init__(self, size: float | None) -> None:
        self.size = size
        self.assets: dict[str, bytes] = {}
        self.total = 0

    def text(self, document: Document) -> str:
        return "".join(self._lines(document, document.root))

    def _lines(self, document: Document, element: Element) -> Iterator[str]:
        tag = element.tag
        attributes = self._attributes(document, element)
        yield f"<{tag}" + "".join(f" {k}={quoted(v)}" for k, v in attributes.items())
        kept = [child for child in element.children if child.tag not in _UNUSED]
        if element is document.root:
            yield ">" + _NO_LENGTHS
        elif tag == "texture" or not kept:
            yield "/>"
            return
        else:
            yield ">"
        for child in kept:
            yield from self._lines(document, child)
        yield f"</{tag}>"

    def _attributes(self, document: Document, element: Element) -> dict[str, str]:
        said = element.attributes
        if element.tag == "compiler":
            return {key: value for key, value in said.items() if key not in _FOLDERS}
        if element.tag == "lengthrange":
            return {"mode": "none"}
        if element.tag == "mesh" and "file" in said:
            return self._mesh(document, said)
        if element.tag == "model" and "file" in said:
            inner = self.text(document.models[said["file"]])
            return {**said, "file": self._asset("model.xml", inner.encode())}
        if element.tag == "texture":
            kept = {key: said[key] for key in _PICTURE if key in said}
            return _with_name(said, kept) | {"builtin": "flat", "width": "1", "height": "1"}
        if element.tag == "hfield":
            kept = {key: said[key] for key in ("name", "size") if key in said}
            return _with_name(said, kept) | {"nrow": "2", "ncol": "2"}
        return said

    def _mesh(self, document: Document, said: dict[str, str]) -> dict[str, str]:
        kept = {key: value for key, value in said.items() if key not in _MESH_FILE}
        kept = _with_name(said, kept)
        if self.size is not None:
            a = repr(self.size)
            # scaled as many meshes are, from millimetres, it would be too small for MuJoCo
            return kept | {"vertex": f"0 0 0 {a} 0 0 0 {a} 0 0 0 {a}", "scale": "1 1 1"}
        place = document.located("mesh", said["file"])
        data = file_content(place, MAX_ASSETS)
        self.total += len(data)
        if self.total > MAX_ASSETS:
            raise FileError(
                f"{document.places.source}: its meshes have more than {MAX_ASSETS} bytes; give bodies <inertial>"
            )
        ending = place.suffix.lower() or PurePosixPath(said["file"]).suffix
        return {**said, **kept, "file": self._asset(f"mesh{ending}", data)}

    def _asset(self, ending: str, data: bytes) -> str:
        name = f"dynarm{len(self.assets)}_{ending}"
        self.assets[name] = data
        return name


def _with_name(said: dict[str, str], kept: dict[str, str]) -> dict[str, str]:
    """What has no name is called as its file, without folders and ending."""
    if "name" in said or "file" not in said:
        return kept
    return {"name": PurePosixPath(said["file"].replace("\\", "/")).stem, **kept}
