/* G2: y^2 = x^3 + 4 (1 + u) over Fp2. An encoded coordinate holds c1 before c0. */
#include "curve/as_g2.h"

#define BATCH_ADD FN(batch_add)
#include "curve/batch_impl.h"
#include "curve/fixed_base_impl.h"
#include "curve/group_impl.h"
