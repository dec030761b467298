/* G1 sums, products by halves. */
#define FP52_HALVES
#define G1_FORM G1_BY_HALVES
#include "msm/g1_form_ifma.h"
