/* Coordinates of points: constants and decoding. */
#include "curve/coord.h"
#include "base/encode.h"

const fp FP_ONE = {{0x760900000002fffd, 0xebf4000bc40c0002, 0x5f48985753c758ba, 0x77ce585370525745,
                    0x5c071a97a256ec6d, 0x15f65ec3fa80e493}};
const fp FP_BETA2 = {{0xcd03c9e48671f071, 0x5dab22461fcda5d2, 0x587042afd3851b95, 0x8eb60ebe01bacb9e,
                      0x03f97d6e83d050d2, 0x18f0206554638741}};
const fp FP_BETA = {{0x30f1361b798a64e8, 0xf3b8ddab7ece5a2a, 0x16a8ca3ac61577f7, 0xc26a2ff874fd029b,
                     0x3636b76660701c6e, 0x051ba4ab241b6160}};

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

int fp2_read(fp2 *r, const uint8_t in[96])
{
    return fp_read(&r->fp[1], in) | fp_read(&r->fp[0], in + 48);
}
