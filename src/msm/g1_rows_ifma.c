/* G1 sums, products by rows of limbs. */
#define G1_FORM G1_BY_ROWS
#include "msm/g1_form_ifma.h"
