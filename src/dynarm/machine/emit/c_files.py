"""The files around exported functions: the source itself, what builds it, and text for comments."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...graph.graph import Graph
from . import c, c_angles
from .selftest import selftest


def files(
    header: str, graphs: Mapping[str, Graph], codes: Mapping[str, c.Code], dialect: c.Dialect
) -> dict[str, str]:
    """Name -> text of everything that an export writes."""
    prefix = dialect.prefix
    return {
        f"{prefix}.h": header,
        f"{prefix}.c": _source(codes, dialect),
        f"{prefix}_test.c": selftest(graphs, dialect),
        "CMakeLists.txt": _cmake(prefix),
    }


def comment(text: str) -> str:
    """Text that cannot end a C comment, begin one, leave its line or write a trigraph."""
    line = "".join(ch if ch.isprintable() else " " for ch in text)
    return re.sub(r"\?(?=\?)", "? ", line.replace("*/", "* /").replace("/*", "/ *"))


def _source(codes: Mapping[str, c.Code], dialect: c.Dialect) -> str:
    bodies = "\n".join(code.text for code in codes.values())
    helpers = c_angles.definitions(dialect, bodies)
    needs = c_angles.precision(dialect)
    return (
        f'#include "{dialect.prefix}.h"\n\n#include <math.h>\n{needs or chr(10)}{helpers}{bodies}'
    )


def _cmake(prefix: str) -> str:
    return f"""cmake_minimum_required(VERSION 3.10)
project({prefix} C)

set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({prefix} STATIC {prefix}.c)
target_include_directories({prefix} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(UNIX)
  target_link_libraries({prefix} m)
endif()

enable_testing()
add_executable({prefix}_test {prefix}_test.c)
target_link_libraries({prefix}_test {prefix})
add_test(NAME {prefix} COMMAND {prefix}_test)
"""
