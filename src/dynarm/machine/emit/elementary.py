"""Functions over vectors, as LLVM functions from slots to slots: sin, cos and tanh of our own, others lane by lane.

sin and cos of one argument share a Cody-Waite reduction to [-pi/4, pi/4] and two polynomials. Up to |x| = 1e5 the
quotient j fits into 17 bits. With fused multiply-adds pi/2 is split into three full doubles: x - j c1 is exact,
because both are multiples of 2^-53 and the difference is below 1; without them the first two parts hold 33 bits each,
so that their products with j are exact. Beyond, and for NaN and infinity, the lanes concerned are computed by the C
library, one by one, while their places in the vector hold zeros: a sample's result depends on no other sample, and no
lane raises a floating-point flag which its own argument does not ask for.

Error bound, with fused multiply-adds and u = 2^-53: two of the three steps of the reduction round, so r is within 2 u
of its value (what is left out of pi/2 is 4e-44 at most, and no double below 1e5 is closer than 1e-21 to a multiple of
it); the last step of each polynomial rounds once, and what comes before it weighs less than a third. That makes 3.5
units of the last place at most; the tests see 1.4, and 2 where multiply-adds are not fused.

Tiny arguments, with fused multiply-adds: z = r r + 2^-200 never underflows, and the same 2^-200 times the polynomial's
constant term is taken away where sin r = r + r (z P(z)) is formed, so that sin r = r exactly, without a flag, for
denormal r. Without them tiny arguments are replaced by 0 on the way and put back at the end.
"""

from __future__ import annotations

from ...graph.ops import OPERATIONS
from ..abi import called, of_c
from ..host import Host
from .lanes import Lanes, integer

LIBRARY = ("sin", "cos")  # functions of the C library that arguments beyond NEAR are left to

MAGIC = 1.5 * 2.0**52  # adding it rounds to an integer, which the low bits then hold
NEAR = 2**16  # quotients from -NEAR to NEAR - 1 are reduced here: |x| < 102943
# Adding FIRST leaves bits above the lowest 17 as they are in MAGIC, for these quotients and no other.
FIRST = MAGIC + NEAR
# All parts are positive: a quotient of 0 must not turn -0 into 0.
HALF_PI_FUSED = (1.5707963267948966, 6.123233995736765e-17, 1.082856673921914e-32)
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


def elementary(width: int, target: Host) -> list[str]:
    """Every function that kernels of this width call."""
    text = _far(width, target.fused)
    for function in VECTOR.values():
        text += function(width, target.fused)
    for count in range(1, target.tuning.angles + 1):
        text += sincos(count, width, target.fused)
    return text


def sincos(count: int, width: int, fused: bool) -> list[str]:
    """sincos(x1, x2 ..., results): s1, c1, s2, c2 ... in turn, all together, so that their latencies overlap."""
    lanes = Lanes(width, fused)
    places = [f"%x{k}" for k in range(count)]
    given = [lanes.load(x) for x in places]
    xs = [_sizeable(lanes, x) for x in given]
    quotients = [_quotient(lanes, x) for x in xs]
    far = _far_lanes(lanes, quotients)
    with lanes.when(lanes.any(far), rarely=True, leave=True):
        for k, x in enumerate(places):
            lanes.line(f"call void @far{width}(ptr {x}, ptr {lanes.slot('%results', 2 * k)})")
    near = _near(lanes, xs, quotients)
    for k, (x, (sine, cosine)) in enumerate(zip(given, near, strict=True)):
        lanes.store(_or_tiny(lanes, x, sine), lanes.slot("%results", 2 * k))
        lanes.store(cosine, lanes.slot("%results", 2 * k + 1))
    arguments = ", ".join(f"ptr noalias {p}" for p in (*places, "%results"))
    return lanes.function(f"void @{called('sincos', count, width)}({arguments})")


def _tiny(lanes: Lanes, x: str) -> str:
    return lanes.compare("ult", lanes.magnitude_bits(x), lanes.mask(integer(2.0**-60)))


def _sizeable(lanes: Lanes, x: str) -> str:
    """x, or 0 for a tiny x whose products would underflow where they are rounded apart from their sums."""
    return x if lanes.fused else lanes.select(_tiny(lanes, x), lanes.number(0.0), x)


def _or_tiny(lanes: Lanes, x: str, result: str) -> str:
    """The result, or x itself where it was too small for `_sizeable`: sin x = tanh x = x there."""
    return result if lanes.fused else lanes.select(_tiny(lanes, x), x, result)


def _quotient(lanes: Lanes, x: str) -> str:
    """x / (pi/2) rounded, with FIRST added: NEAR is a multiple of 4, so the lowest bits count quarter turns."""
    return lanes.fma(x, lanes.number(2 / 3.141592653589793), lanes.number(FIRST))


def _far_lanes(lanes: Lanes, quotients: list[str]) -> str:
    """Lanes in which any quotient is far, or none at all: the argument is infinite or NaN."""
    words = [lanes.bitwise("xor", lanes.as_word(t), lanes.mask(integer(MAGIC))) for t in quotients]
    every = words[0]
    for word in words[1:]:
        every = lanes.bitwise("or", every, word)
    return lanes.compare("ne", lanes.bitwise("and", every, lanes.mask(-2 * NEAR)), lanes.mask(0))


def _near(lanes: Lanes, xs: list[str], quotients: list[str]) -> list[tuple[str, str]]:
    """sin and cos of arguments none of which is far, each step for all of them before the next."""
    number = lanes.number
    js = [lanes.sub(t, number(FIRST)) for t in quotients]
    rs = xs
    for part in HALF_PI_FUSED if lanes.fused else HALF_PI_SPLIT:
        rs = [lanes.fma(j, number(-part), r) for j, r in zip(js, rs, strict=True)]
    zs = [lanes.fma(r, r, number(GUARD)) for r in rs]
    ps, cs = [number(SIN[0])] * len(xs), [number(COS[0])] * len(xs)
    for k in range(1, len(COS)):
        cs = [lanes.fma(c, z, number(COS[k])) for c, z in zip(cs, zs, strict=True)]
        if k <= len(SIN):
            last = number(SIN[k]) if k < len(SIN) else number(-GUARD * SIN[-1])
            ps = [lanes.fma(p, z, last) for p, z in zip(ps, zs, strict=True)]
    ss = [lanes.fma(r, p, r) for r, p in zip(rs, ps, strict=True)]
    return [_turned(lanes, s, c, t) for s, c, t in zip(ss, cs, quotients, strict=True)]


def _turned(lanes: Lanes, s: str, c: str, t: str) -> tuple[str, str]:
    """sin and cos with the quarter turns put back: odd ones make (c, -s) of (s, c), two more the negative."""
    quarters, sign = lanes.as_word(t), lanes.mask(-(2**63))
    odd = lanes.compare("ne", lanes.bitwise("and", quarters, lanes.mask(1)), lanes.mask(0))
    half = lanes.bitwise("shl", quarters, lanes.mask(62))  # its sign counts
    c = lanes.copysign(c, lanes.as_real(half))  # c itself is positive
    s = lanes.as_real(lanes.bitwise("xor", lanes.as_word(s), lanes.bitwise("and", half, sign)))
    negative = lanes.as_real(lanes.bitwise("xor", lanes.as_word(s), sign))
    return lanes.select(odd, c, s), lanes.select(odd, negative, c)


def _far(width: int, fused: bool) -> list[str]:
    """far(x, results): lanes that are far by the C library, the others as always."""
    lanes = Lanes(width, fused)
    lanes.line(f"%safe = alloca {lanes.real}, align {8 * width}")
    lanes.line(f"%where = alloca {lanes.word}, align {8 * width}")
    x = lanes.load("%x")
    far = _far_lanes(lanes, [_quotient(lanes, _sizeable(lanes, x))])
    lanes.store(lanes.select(far, lanes.number(0.0), x), "%safe")
    marks = lanes.put(f"zext {lanes.truth} {far} to {lanes.word}")
    lanes.line(f"store {lanes.word} {marks}, ptr %where, align {8 * width}")
    lanes.line(f"call void @{called('sincos', 1, width)}(ptr %safe, ptr %results)")
    with lanes.repeat(width) as lane, lanes.when(lanes.test("ne", lanes.entry("%where", lane), 0)):
        value = lanes.entry("%x", lane, "double")
        for k, name in enumerate(LIBRARY):
            result = lanes.put(f"call double @{of_c(name)}(double {value})")
            lanes.set_entry(lanes.slot("%results", k), lane, result, "double")
    return lanes.function(f"internal void @far{width}(ptr %x, ptr %results)", "noinline cold ")


# The first part of ln 2 holds 32 bits: its products with n are exact.
LN2 = (0.6931471803691238, 1.9082149292705877e-10)
EXPM1 = tuple(1 / f for f in (  # Taylor's series of (exp(r) - 1 - r) / r^2, enough for |r| <= ln(2)/2
    1307674368000, 87178291200, 6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2
))  # fmt: skip
SATURATED = 22.0  # 1 - tanh(22) is less than a tenth of an ulp


def tanh(width: int, fused: bool) -> list[str]:
    """tanh(x, y) from slot to slot: e/(e + 2) with e = exp(2|x|) - 1, which has no cancellation."""
    lanes = Lanes(width, fused)
    number = lanes.number
    x = lanes.load("%x")
    size = lanes.magnitude_bits(x)
    large = lanes.compare("ugt", size, lanes.mask(integer(SATURATED)))
    y = _sizeable(lanes, lanes.select(large, number(SATURATED), lanes.as_real(size)))
    y = lanes.add(y, y)
    t = lanes.fma(y, number(1.4426950408889634), number(MAGIC))
    n = lanes.sub(t, number(MAGIC))
    r = y
    for part in LN2:
        r = lanes.fma(n, number(-part), r)
    q = number(EXPM1[0])
    for c in EXPM1[1:]:
        q = lanes.fma(q, r, number(c))
    # r^2 + GUARD, and GUARD/2 taken away again where its half is added: no flag for denormal r
    p = lanes.add(r, lanes.fma(lanes.fma(r, r, number(GUARD)), q, number(-GUARD * 0.5)))
    exponent = lanes.bitwise("sub", lanes.as_word(t), lanes.mask(integer(MAGIC) - 1023))
    power = lanes.as_real(lanes.bitwise("shl", exponent, lanes.mask(52)))
    e = lanes.fma(power, p, lanes.sub(power, number(1.0)))
    result = lanes.copysign(lanes.div(e, lanes.add(e, number(2.0))), x)
    nan = lanes.compare("ugt", size, lanes.mask(integer(float("inf"))))
    lanes.store(lanes.select(nan, x, _or_tiny(lanes, x, result)), "%y")
    return lanes.function(f"void @{called('tanh', 1, width)}(ptr noalias %x, ptr noalias %y)")


VECTOR = {"tanh": tanh}  # functions of one argument from slot to slot, by the word of `Way.VECTOR`


def c_function(op: str) -> str:
    """The declaration of the function of the C library that computes an operation."""
    return f"declare double @{of_c(OPERATIONS[op].word)}(double)"


def lane_by_lane(op: str, width: int) -> list[str]:
    """<op>(x, y) from slot to slot by the C library: a sample's result depends on no other, at any width."""
    lanes = Lanes(width)
    with lanes.repeat(width) as lane:
        x = lanes.entry("%x", lane, "double")
        y = lanes.put(f"call double @{of_c(OPERATIONS[op].word)}(double {x})")
        lanes.set_entry("%y", lane, y, "double")
    return lanes.function(f"internal void @{called(op, 1, width)}(ptr noalias %x, ptr noalias %y)")
