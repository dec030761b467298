#include "base/clock.h"
#include <stddef.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}
uint64_t clock_in_ms(uint64_t ms)
{
    uint64_t now = clock_ns();
    return ms > (UINT64_MAX - now) / 1000000u ? UINT64_MAX : now + ms * 1000000u;
}
uint64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}
uint64_t clock_process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int cancel_check(const cancel_token *t)
{
    if (!t)
        return 0;
    if (atomic_load_explicit(&t->cancelled, memory_order_relaxed))
        return 1;
    uint64_t deadline = atomic_load_explicit(&t->deadline_ns, memory_order_relaxed);
    return deadline && clock_ns() >= deadline ? 2 : 0;
}

cuzk_status cancel_status(const cancel_token *t, const char *what, cuzk_error *err)
{
    switch (cancel_check(t)) {
    case 0:
        return CUZK_OK;
    case 2:
        return cuzk_error_set(err, CUZK_DEADLINE, "%s was stopped: the deadline has passed", what);
    default:
        return cuzk_error_set(err, CUZK_CANCELLED, "%s was cancelled", what);
    }
}
