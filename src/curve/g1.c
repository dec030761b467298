/* G1: y^2 = x^3 + 4 over Fp. */
#include "curve/as_g1.h"

#include "curve/batch_impl.h"
#include "curve/fixed_base_impl.h"
#include "curve/group_impl.h"
