// Passes over columns that end an inverse and do more.
#include "ntt_tile.cuh"

namespace gpu
{
cuzk_status run_joined_pass(context &c, int levels, int mode, const pass_args &P, int log)
{
    PASS(6, false, PASS_INVERSE | PASS_MINUS)
    PASS(7, false, PASS_INVERSE | PASS_MINUS)
    PASS(8, false, PASS_INVERSE | PASS_MINUS)
    PASS(9, false, PASS_INVERSE | PASS_MINUS)
    PASS(6, false, PASS_INVERSE | PASS_FORWARD)
    PASS(7, false, PASS_INVERSE | PASS_FORWARD)
    PASS(8, false, PASS_INVERSE | PASS_FORWARD)
    PASS(9, false, PASS_INVERSE | PASS_FORWARD)
    return no_pass(c, levels);
}
} // namespace gpu
