/* Choices and errors common to both groups. */
#include "msm/hexagon.h"
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

/* Additions: one a term, two a bucket and one more for every chunk in each window, and running sums, which
 * are dearer, over rows and columns. */
unsigned msm_windows(size_t n, size_t chunks)
{
    unsigned best = 0;
    double least = 0;
    for (unsigned w = HEXAGON_LEAST; w <= HEXAGON_MOST; w++) {
        double m = hexagon_radix(w), buckets = m * m / 6;
        double cost = w * ((double)n + buckets * (1.0 + (double)chunks) + 6.0 * m);
        if (m > 0 && (!best || cost < least))
            least = cost, best = w;
    }
    return best;
}
