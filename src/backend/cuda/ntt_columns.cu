// Passes over columns.
#include "ntt_tile.cuh"

namespace gpu
{
cuzk_status run_column_pass(context &c, int levels, int mode, const pass_args &P, int log)
{
    PASS(6, false, PASS_FORWARD)
    PASS(7, false, PASS_FORWARD)
    PASS(8, false, PASS_FORWARD)
    PASS(9, false, PASS_FORWARD)
    PASS(6, false, PASS_INVERSE)
    PASS(7, false, PASS_INVERSE)
    PASS(8, false, PASS_INVERSE)
    PASS(9, false, PASS_INVERSE)
    return no_pass(c, levels);
}
} // namespace gpu
