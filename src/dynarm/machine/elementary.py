"""sin, cos and tanh over vectors, as LLVM functions from slot to slot.

sin and cos of one argument share a Cody-Waite reduction to [-pi/4, pi/4] and two polynomials. Up to |x| = 1e5 the
quotient j fits into 17 bits. With fused multiply-adds pi/2 is split into three full doubles: x - j c1 is exact, because
both are multiples of 2^-53 and the difference is below 1; without them the first two parts hold 33 bits each, so that
their products with j are exact. Beyond, and for NaN and infinity, the lanes concerned are computed by the C library, one
by one, while their places in the vector hold zeros: a sample's result depends on no other sample, and no lane raises a
floating-point flag which its own argument does not ask for.

Tiny arguments: z = r r + 2^-200 never underflows, and the same 2^-200 times the polynomial's constant term is
taken away where sin r = r + r (z P(z)) is formed, so that sin r = r exactly, without a flag, for denormal r.
"""

from __future__ import annotations

from .lanes import Lanes, integer

LIBRARY = {"dynarm_sin": "sin", "dynarm_cos": "cos"}  # our names of what the C library computes

MAGIC = (
    6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which the low bits then hold
)
NEAR = 2**16  # quotients below this in magnitude are reduced here: |x| < 102943
HALF_PI_FUSED = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
HALF_PI_SPLIT = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
GUARD = 2.0**-200

SIN = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
COS = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
    -0.5,
    1.0,
)


def sincos(width: int, fused: bool) -> list[str]:
    """Two functions: sincos(x, s, c) from slot to slots, and the rare one for lanes with large arguments."""
    lanes = Lanes(width, fused)
    head = f"define internal void @sincos{width}(ptr noalias %x, ptr noalias %s, ptr noalias %c) nounwind {{"
    x = lanes.load("%x")
    t, u, far = _quotient(lanes, x)
    lanes.line(f"br i1 {lanes.any(far)}, label %far, label %near, !prof !0")
    lanes.line("far:")
    lanes.line(f"call void @sincos_far{width}(ptr %x, ptr %s, ptr %c)")
    lanes.line("ret void")
    lanes.line("near:")
    s, c = _reduced(lanes, x, t, u)
    lanes.store(s, "%s")
    lanes.store(c, "%c")
    lanes.line("ret void")
    return [head, *lanes.text, "}", *_far(width, fused)]


def _quotient(lanes: Lanes, x: str) -> tuple[str, str, str]:
    """x / (pi/2) rounded, with MAGIC added; the quotient plus NEAR + 1 as an integer; which lanes are far."""
    t = lanes.fma(x, lanes.number(2 / 3.141592653589793), lanes.number(MAGIC))
    u = lanes.bitwise("add", lanes.as_whole(t), lanes.mask(NEAR + 1 - integer(MAGIC)))
    return t, u, lanes.compare("ugt", u, lanes.mask(2 * NEAR))


def _reduced(lanes: Lanes, x: str, t: str, u: str) -> tuple[str, str]:
    j = lanes.sub(t, lanes.number(MAGIC))
    r = x
    for part in HALF_PI_FUSED if lanes.fused else HALF_PI_SPLIT:
        r = lanes.fma(j, lanes.number(-part), r)
    z = lanes.fma(r, r, lanes.number(GUARD))
    zp = lanes.fma(z, lanes.horner(z, *SIN), lanes.number(-GUARD * SIN[-1]))
    s, c = lanes.fma(r, zp, r), lanes.horner(z, *COS)
    ti = lanes.as_whole(t)
    odd = lanes.compare("ne", lanes.bitwise("and", ti, lanes.mask(1)), lanes.mask(0))
    sign = lanes.mask(-(2**63))
    found = []
    for value, quarter in ((lanes.select(odd, c, s), ti), (lanes.select(odd, s, c), u)):
        flip = lanes.bitwise("and", lanes.bitwise("shl", quarter, lanes.mask(62)), sign)
        found.append(lanes.as_real(lanes.bitwise("xor", lanes.as_whole(value), flip)))
    return found[0], found[1]


def _far(width: int, fused: bool) -> list[str]:
    lanes = Lanes(width, fused)
    head = (
        f"define internal void @sincos_far{width}(ptr %x, ptr %s, ptr %c) noinline cold nounwind {{"
    )
    lanes.line(f"%safe = alloca {lanes.real}, align {8 * width}")
    lanes.line(f"%where = alloca {lanes.whole}, align {8 * width}")
    x = lanes.load("%x")
    _, _, far = _quotient(lanes, x)
    lanes.store(lanes.select(far, lanes.number(0.0), x), "%safe")
    mark = lanes.put(f"zext {lanes.truth} {far} to {lanes.whole}")
    lanes.line(f"store {lanes.whole} {mark}, ptr %where, align {8 * width}")
    lanes.line(f"call void @sincos{width}(ptr %safe, ptr %s, ptr %c)")
    lanes.line("br label %lane")
    return [head, "entry:", *lanes.text, *_FAR_LOOP.format(width=width).splitlines(), "}"]


_FAR_LOOP = """\
lane:
%l = phi i64 [ 0, %entry ], [ %m, %next ]
%pw = getelementptr i64, ptr %where, i64 %l
%w = load i64, ptr %pw
%far = icmp ne i64 %w, 0
br i1 %far, label %library, label %next
library:
%px = getelementptr double, ptr %x, i64 %l
%ps = getelementptr double, ptr %s, i64 %l
%pc = getelementptr double, ptr %c, i64 %l
%xl = load double, ptr %px
%sl = call double @dynarm_sin(double %xl)
%cl = call double @dynarm_cos(double %xl)
store double %sl, ptr %ps
store double %cl, ptr %pc
br label %next
next:
%m = add i64 %l, 1
%more = icmp ult i64 %m, {width}
br i1 %more, label %lane, label %done
done:
ret void"""

_LN2 = (
    0.6931471803691238,
    1.9082149292705877e-10,
)  # the first part holds 32 bits: its products with n are exact
_EXPM1 = (  # Taylor's series of (exp(r) - 1 - r) / r^2, enough for |r| <= ln(2)/2
    1 / 1307674368000,
    1 / 87178291200,
    1 / 6227020800,
    1 / 479001600,
    1 / 39916800,
    1 / 3628800,
    1 / 362880,
    1 / 40320,
    1 / 5040,
    1 / 720,
    1 / 120,
    1 / 24,
    1 / 6,
    1 / 2,
)
SATURATED = 22.0  # 1 - tanh(22) is a tenth of an ulp


def tanh(width: int, fused: bool) -> list[str]:
    """tanh(x, y) from slot to slot: e/(e + 2) with e = exp(2|x|) - 1, which has no cancellation."""
    lanes = Lanes(width, fused)
    head = f"define internal void @tanh{width}(ptr noalias %x, ptr noalias %y) nounwind {{"
    x = lanes.load("%x")
    size = lanes.magnitude_bits(x)
    large = lanes.compare("ugt", size, lanes.mask(integer(SATURATED)))
    y = lanes.select(large, lanes.number(SATURATED), lanes.as_real(size))
    y = lanes.add(y, y)
    t = lanes.fma(y, lanes.number(1.4426950408889634), lanes.number(MAGIC))
    n = lanes.sub(t, lanes.number(MAGIC))
    r = y
    for part in _LN2:
        r = lanes.fma(n, lanes.number(-part), r)
    # without a flag for denormal r: r^2 + GUARD, and its half taken away again below
    square = lanes.fma(r, r, lanes.number(GUARD))
    p = lanes.add(r, lanes.fma(square, lanes.horner(r, *_EXPM1), lanes.number(-GUARD * 0.5)))
    whole = lanes.bitwise("sub", lanes.as_whole(t), lanes.mask(integer(MAGIC) - 1023))
    power = lanes.as_real(lanes.bitwise("shl", whole, lanes.mask(52)))
    e = lanes.fma(power, p, lanes.sub(power, lanes.number(1.0)))
    result = lanes.copysign(lanes.div(e, lanes.add(e, lanes.number(2.0))), x)
    nan = lanes.compare("ugt", size, lanes.mask(integer(float("inf"))))
    lanes.store(lanes.select(nan, x, result), "%y")
    lanes.line("ret void")
    return [head, *lanes.text, "}"]
