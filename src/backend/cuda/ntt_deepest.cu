// Passes over contiguous elements.
#include "ntt_tile.cuh"

namespace gpu
{
cuzk_status run_deepest_pass(context &c, int levels, int mode, const pass_args &P, int log)
{
    PASS(6, true, PASS_FORWARD)
    PASS(9, true, PASS_FORWARD)
    PASS(6, true, PASS_INVERSE)
    PASS(9, true, PASS_INVERSE)
    PASS(6, true, PASS_INVERSE | PASS_TIMES)
    PASS(9, true, PASS_INVERSE | PASS_TIMES)
    PASS(6, true, PASS_INVERSE | PASS_NATURAL)
    PASS(9, true, PASS_INVERSE | PASS_NATURAL)
    PASS(6, true, PASS_INVERSE | PASS_TIMES | PASS_NATURAL)
    PASS(9, true, PASS_INVERSE | PASS_TIMES | PASS_NATURAL)
    return no_pass(c, levels);
}
} // namespace gpu
