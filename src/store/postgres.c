#include "store/store_private.h"
cuzk_status store_postgres_open(store **out, const char *url, uint64_t lease_ms, cuzk_error *err)
{
    (void)url, (void)lease_ms;
    *out = NULL;
    return cuzk_error_set(err, CUZK_UNSUPPORTED, "not yet");
}
