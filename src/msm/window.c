/* Choices and errors common to both groups. */
#include "msm/glv.h"
#include "msm/msm_private.h"

cuzk_status msm_stopped(const cancel_token *cancel, cuzk_error *err)
{
    switch (cancel_check(cancel)) {
    case 0:
        return CUZK_OK;
    case 1:
        return cuzk_error_set(err, CUZK_CANCELLED, "the sum was cancelled");
    default:
        return cuzk_error_set(err, CUZK_DEADLINE, "the time allowed is over");
    }
}

/* Additions: 2n digits and twice the buckets in every window, and running sums, which are dearer, of about
 * the square root of the buckets. */
unsigned msm_window(size_t n)
{
    unsigned best = 4;
    double least = 0;
    for (unsigned c = 4; c <= 16; c++) {
        double buckets = (double)((size_t)1 << (c - 1)), root = (double)((size_t)1 << c / 2);
        double cost = glv_windows(c) * (2.0 * (double)n + 2.0 * buckets + 12.0 * root);
        if (c == 4 || cost < least)
            least = cost, best = c;
    }
    return best;
}
