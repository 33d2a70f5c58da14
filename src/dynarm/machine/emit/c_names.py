"""Names of exported C: words that a compiler, the C library, a file system and CMake leave to us."""

from __future__ import annotations

import re
import unicodedata

from ...errors import InputError

LONGEST = 40
_LANGUAGE = """alignas alignof auto bool break case char const constexpr continue default do double else enum extern
false float for goto if inline int long main nullptr register restrict return short signed sizeof static struct switch
thread_local true typedef typeof union unsigned void volatile while"""
_MATH = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor
fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround
modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sincos sinh sqrt tan tanh
tgamma trunc y0 y1 yn"""
# Headers that those we include are or may include: with -I, a file of ours would come first.
_HEADERS = """aio alloca assert byteswap complex conio corecrt cpio crtdefs ctype dirent dlfcn elf endian errno error
execinfo fcntl features fenv float fmtmsg fnmatch ftw getopt glob grp iconv inttypes io iso646 langinfo libgen libintl
limits link linux locale malloc math memory monetary mqueue ndbm netdb newlib nl_types poll process pthread pwd regex
sal sched search semaphore setjmp share signal spawn stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint
stdio stdlib stdnoreturn string strings stropts syslog tar termios tgmath threads time trace uchar ulimit unistd unix
utime utmpx vadefs values wchar wctype windows wordexp"""
_BUILD = """all all_build c clean continuous depend edit_cache experimental gcc help install
list_install_components m nightly nightlymemorycheck package package_source preinstall rebuild_cache run_tests test
zero_check"""
_DEVICES = "aux con nul prn " + " ".join(f"{port}{k}" for port in ("com", "lpt") for k in range(10))
RESERVED = frozenset(" ".join((_LANGUAGE, _MATH, _HEADERS, _BUILD, _DEVICES)).split())


def identifier(text: str) -> str:
    """A C identifier that resembles the text: ASCII letters, digits and underscores, none of RESERVED, short."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    letters = plain if plain.strip() else text
    word = re.sub(r"[^A-Za-z0-9]+", "_", letters).strip("_")[:LONGEST].rstrip("_").lower()
    if not word or word[0].isdigit():
        word = f"robot_{word}".rstrip("_")
    return f"{word}_robot" if word in RESERVED else word


def check_prefix(prefix: str) -> str:
    """The prefix itself if it can stand before C names and be a file's."""
    if identifier(prefix) != prefix:
        raise InputError(f"{prefix!r} cannot begin C names; try {identifier(prefix)!r}")
    return prefix
