"""sin and cos of exported C: one range reduction for both, written so that no option of a compiler can break it.

In double, |x| < 1e5: x = k pi/2 + r with |r| <= pi/4, then two minimax polynomials in r^2. Three things make it hold
under -ffast-math, -fassociative-math and on x87:
    k is rounded by a conversion to an integer, not by adding and taking away a large number, which may cancel;
    y = x - k c1 is volatile: the remaining parts of pi/2 cannot be merged with c1. y is exact, because c1 holds 33
    bits and k 17. What is left may be merged: c2 + c3 in one double is off by less than 1e-26, times k 1e-21;
    c1 is written in hexadecimal: x87 reads decimal constants with 64 bits, and k c1 would not be exact.
The 65536 added to k, a multiple of 4, makes truncation round and leaves the quadrant in the lowest bits.
Beyond, and for infinity and NaN, the C library is called through volatile pointers: fast-math would put the
instruction fsin there, which leaves arguments above 2^63 as they are and reduces by a short pi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .c import Dialect

FAR = "1.0e5"


def definitions(dialect: Dialect, code: str) -> str:
    """The static functions that the code calls: <prefix>_sincos, <prefix>_sin, <prefix>_cos."""
    lone = [name for name in ("sin", "cos") if f"{dialect.prefix}_{name}(" in code]
    if not lone and f"{dialect.prefix}_sincos" not in code:
        return ""
    return "\n".join([_sincos(dialect), *(_lone(name, dialect) for name in lone), ""])


def precision(dialect: Dialect) -> str:
    """What the code asks of the compiler, as lines that do not compile where it is not given."""
    if dialect.single:
        return ""
    return f"""#include <float.h>

#if DBL_MANT_DIG < 53
#error "double has fewer than 53 bits here; export with single=True"
#endif

/* Where this array has no size, constants are not double: leave out -fsingle-precision-constant. */
typedef char {dialect.prefix}_double_constants[(sizeof(1.0) == sizeof(double)) ? 1 : -1];

"""


def _sincos(dialect: Dialect) -> str:
    real, far = dialect.real, f"{FAR}f" if dialect.single else FAR
    return f"""static void {dialect.prefix}_sincos({real} x, {dialect.kept} *s, {dialect.kept} *c)
{{
    if (x > -{far} && x < {far}) {{
{_NEAR_SINGLE if dialect.single else _NEAR}    }} else {{
        /* volatile: the library, never an instruction that knows pi to 66 bits only */
        {real} (*volatile sine)({real}) = {dialect.call("sin")};
        {real} (*volatile cosine)({real}) = {dialect.call("cos")};
        *s = sine(x);
        *c = cosine(x);
    }}
}}
"""


_NEAR_SINGLE = """        *s = sinf(x);
        *c = cosf(x);
"""
_NEAR = """        /* x = k pi/2 + r, |r| <= pi/4, pi/2 in three parts; then two minimax polynomials in r^2.
           y is exact, and volatile so that fast-math cannot merge the parts. */
        const long n = (long)(x * 0.6366197723675814 + 65536.5);
        const double k = (double)(n - 65536L);
        const volatile double y = x - k * 0x1.921fb544p+0;
        const double r = (y - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21;
        const double z = r * r;
        const double sine = r + (r * z) * (-1.6666666666666632e-1 + z * (8.33333333332249e-3
            + z * (-1.984126982985795e-4 + z * (2.755731370707007e-6 + z * (-2.5050760253406863e-8
            + z * 1.58969099521155e-10)))));
        const double cosine = (1.0 - 0.5 * z) + (z * z) * (4.16666666666666e-2 + z * (-1.3888888888874110e-3
            + z * (2.480158728947673e-5 + z * (-2.7557314351390663e-7 + z * (2.087572321298175e-9
            + z * -1.1359647557788195e-11)))));
        const double a = ((n & 1L) != 0) ? cosine : sine;
        const double b = ((n & 1L) != 0) ? sine : cosine;
        *s = ((n & 2L) != 0) ? -a : a;
        *c = (((n + 1L) & 2L) != 0) ? -b : b;
"""


def _lone(name: str, dialect: Dialect) -> str:
    """A function for a sine without its cosine, or the other way round (code of bounded stack calls none)."""
    real, prefix = dialect.real, dialect.prefix
    return f"""static {real} {prefix}_{name}({real} x)
{{
    {real} s, c;
    {prefix}_sincos(x, &s, &c);
    return {name[0]};
}}
"""
