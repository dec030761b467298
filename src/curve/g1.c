/* G1: y^2 = x^3 + 4 over Fp. */
#include "curve/as_g1.h"

#include "base/cpu.h"
#include "curve/batch_private.h"

#define BATCH_ADD FN(batch_add_portable)
#include "curve/batch_impl.h"
#include "curve/fixed_base_impl.h"
#include "curve/group_impl.h"

void g1_batch_add(g1_affine *const *out, const point_ref *a, const point_ref *b, size_t n, g1_batch *scratch)
{
#ifdef FP_ADX
    if (cpu_get()->adx && cpu_get()->bmi2) {
        g1_batch_add_adx(out, a, b, n, scratch);
        return;
    }
#endif
    g1_batch_add_portable(out, a, b, n, scratch);
}
