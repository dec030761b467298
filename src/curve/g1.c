/* G1: y^2 = x^3 + 4 over Fp. */
#include "base/encode.h"
#include "base/mem.h"
#include "curve/coord.h"
#include "curve/curve.h"
#include <stdatomic.h>

const fp FP_ONE = {{0x760900000002fffd, 0xebf4000bc40c0002, 0x5f48985753c758ba, 0x77ce585370525745,
                    0x5c071a97a256ec6d, 0x15f65ec3fa80e493}};

int fp_read(fp *r, const uint8_t in[48])
{
    static const uint64_t P[6] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                  0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};
    fp t;
    uint64_t borrow = 0;
    for (int i = 0; i < 6; i++)
        t.l[i] = (uint64_t)load_be32(in + 40 - 8 * i) << 32 | load_be32(in + 44 - 8 * i);
    for (int i = 0; i < 6; i++)
        borrow = (uint64_t)(((unsigned __int128)t.l[i] - P[i] - borrow) >> 64) & 1;
    if (!borrow)
        return -1;
    blst_fp_to(r, &t);
    return 0;
}

#define GROUP             g1
#define AFFINE            g1_affine
#define JACOBIAN          g1
#define BLST(f)           blst_p1_##f
#define IN_GROUP          blst_p1_affine_in_g1
#define COORD             fp
#define COORD_ONE         FP_ONE
#define coord_mul         blst_fp_mul
#define coord_sqr         blst_fp_sqr
#define coord_inv         blst_fp_eucl_inverse
#define coord_neg(r, a)   blst_fp_cneg(r, a, 1)
#define HALF              48
#define coord_read(r, in) fp_read(r, in)
#include "curve/group_impl.h"
