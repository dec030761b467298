#!/usr/bin/env python3
"""Writes src/field/ifma_constants.h: the constants of the 52-bit vector fields (src/field/fp52.h, fr52.h).

  scripts/generate_ifma.py            print to standard output
  scripts/generate_ifma.py --check    compare with the file in the tree; exit 1 where they differ
"""
import os
import sys

P = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
W = 52
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "field", "ifma_constants.h")


def limbs(x, n):
    """n limbs of 52 bits; the last one takes what is left."""
    return [(x >> (W * i)) & ((1 << W) - 1) for i in range(n - 1)] + [x >> (W * (n - 1))]


def signed_limbs(x, n):
    """Those of -x, each negated, where x is negative."""
    return [v if x >= 0 else -v % 2**64 for v in limbs(abs(x), n)]


def by_limb(values):
    return [signed_limbs(v, 5)[i] for i in range(5) for v in values]


def words(x, n):
    return [(x >> (64 * i)) & (2**64 - 1) for i in range(n)]


def table(out, name, comment, values):
    out.append("/* %s */" % comment)
    out.append("static const uint64_t %s[%d] __attribute__((aligned(64), unused)) = {" % (name, len(values)))
    for i in range(0, len(values), 4):
        out.append("    " + ", ".join("0x%x" % v for v in values[i : i + 4]) + ",")
    out.append("};")


def scalar(out, name, comment, value):
    out.append("/* %s */" % comment)
    out.append("#define %s UINT64_C(0x%x)" % (name, value))


def short(k):
    """k p^2 / 2^364 in units of p, rounded up."""
    return (k * P >> 364) + 1


def fold_halves():
    """Parts of two limbs of v = 2^-208 mod p - p = e0 - e1 X + e2 X^2 - e3 X^3, X = 2^104, and two differences."""
    x = 1 << (2 * W)
    v = pow(2, -4 * W, P) - P
    e0, e1 = v % x, -(v // x) % x
    e2, e3 = (v // x + e1) // x % x, -((v // x + e1) // x // x)
    assert v == e0 - e1 * x + e2 * x**2 - e3 * x**3 and e0 >= e1 and e2 >= e3 >= 0 > v > -P // 2
    return [limb for part in (e0, e1, e2, e3, e0 - e1, e2 - e3) for limb in limbs(part, 2)]


def fp(out):
    table(out, "FP52_P", "p", limbs(P, 8))
    table(out, "FP52_P_WORDS", "p in words of 64 bits", words(P, 6))
    scalar(out, "FP52_N0", "-1 / p mod 2^52", -pow(P, -1, 1 << W) % (1 << W))
    fold = [v for i in range(7) for v in limbs(pow(2, -W * (7 - i), P), 8)]
    table(out, "FP52_FOLD", "row i: 2^(-52 (7 - i)) mod p, what limb i of a product weighs at limb 7", fold)
    table(out, "FP52_FOLD_HALVES", "e0 .. e3, e0 - e1, e2 - e3: see fp52_fold_halves", fold_halves())
    table(out, "FP52_P_NEGATIVE", "-p, limb by limb", signed_limbs(-P, 8))
    table(out, "FP52_MULTIPLES", "row k: k p, for k < 10", [v for k in range(10) for v in limbs(k * P, 8)])
    table(out, "FP52_ONE", "2^416 mod p", limbs(pow(2, 416, P), 8))
    table(out, "FP52_INVERSE", "2^428 mod p: what a Montgomery inverse of blst is multiplied by, see lanes_ifma.h",
          limbs(pow(2, 428, P), 8))
    table(out, "FP52_FROM_BLST", "2^448 mod p: from radix 2^384 to 2^416", limbs(pow(2, 448, P), 8))
    table(out, "FP52_DECODE", "2^800 mod p: from plain numbers to radix 2^384", limbs(pow(2, 800, P), 8))
    table(out, "FP52_TO_BLST", "2^352 mod p: blst_fp_mul by it goes from radix 2^416 to 2^384",
          words(pow(2, 352, P), 6))
    table(out, "FP52_X_OUT", "2^356 mod p: blst_fp_mul by it divides by 2^28", words(pow(2, 356, P), 6))
    table(out, "FP52_SHORT_LIFT", "the multiple of p above (10 p)^2 / 2^364", limbs(short(10 * 10) * P, 8))
    table(out, "FP52_Y_LIFT", "12 p: p more than Y_ADD", limbs(12 * P, 8))
    # Sums of coordinates: see the bounds in src/msm/lanes_ifma.h.
    turn = 2**28 + 10
    square = short(20 * 20) + 8
    x_sub = turn + square + 1
    bound = x_sub + 1
    x_add = (bound + square + 1) // 2 * 2
    for name, k in (("X_TURN", turn), ("X_HALF", 2**27), ("X_BOUND", bound),
                    ("X_SUB", x_sub), ("Y_NEG", 5), ("Y_ADD", 11), ("Y_SUB", 10), ("4P", 4), ("8P", 8)):
        table(out, "FP52_" + name, "%d p" % k, limbs(k * P, 8))
    table(out, "FP52_X_LESS", "-X_ADD, limb by limb", signed_limbs(-x_add * P, 8))
    table(out, "FP52_X_LESS_HALF", "half of it", signed_limbs(-x_add // 2 * P, 8))


def fr(out):
    table(out, "FR52_R", "r", limbs(R, 5))
    table(out, "FR52_K", "r + 2^32 - 1, a multiple of 2^64", limbs(R + 2**32 - 1, 5))
    table(out, "FR52_3R_NEGATIVE", "-3 r, limb by limb", signed_limbs(-3 * R, 5))
    table(out, "FR52_17R", "17 r", limbs(17 * R, 5))
    # What a value loses by its top limb: see the reductions in src/field/fr52.h. Limb i for index k at 8 i + k.
    near = [((2 * (k - 8 * (k >> 2)) + 1) * 2**257 + R) // (2 * R) * R for k in range(8)]
    below = [k * 2**255 // R * R for k in range(8)]
    table(out, "FR52_NEAR", "the multiple of r next to (k + 1/2) 2^257, for -4 <= k < 4 modulo 8", by_limb(near))
    table(out, "FR52_BELOW", "the multiple of r below k 2^255, for k < 8", by_limb(below))
    table(out, "FR52_18R", "18 r, above 2^259", limbs(18 * R, 5))
    table(out, "FR52_LESS_R", "2^260 - r", limbs(2**260 - R, 5))
    scalar(out, "FR52_18R_TOP", "(18 r + 2^232 + 2^216) / 2^208, rounded up, and 1",
           (18 * R >> 208) + 2 + (1 << 24) + (1 << 8))
    scalar(out, "FR52_QUOTIENT", "2^(260 + 24) / r, rounded up", (1 << 284) // R + 1)
    table(out, "FR52_ONE", "2^260 mod r", limbs(pow(2, 260, R), 5))
    table(out, "FR52_SQUARE", "2^520 mod r", limbs(pow(2, 520, R), 5))
    table(out, "FR52_FROM_BLST", "2^264 mod r: from radix 2^256 to 2^260", limbs(pow(2, 264, R), 5))


def text():
    out = ["/* Written by scripts/generate_ifma.py; do not edit. Numbers in limbs of 52 bits, the lowest first. */",
           "#ifndef FIELD_IFMA_CONSTANTS_H", "#define FIELD_IFMA_CONSTANTS_H", "/* clang-format off */", "#include <stdint.h>", ""]
    fp(out)
    out.append("")
    fr(out)
    out.append("#endif")
    return "\n".join(out) + "\n"


def main():
    if sys.argv[1:] == ["--check"]:
        with open(PATH) as f:
            if f.read() != text():
                sys.exit("src/field/ifma_constants.h differs from what scripts/generate_ifma.py writes")
    else:
        sys.stdout.write(text())


main()
