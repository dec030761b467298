/* cuzk device clear N: takes a device back that the daemon has set aside. */
#include "base/json_write.h"
#include "base/mem.h"
#include "client/client.h"
#include "proving.pb-c.h"
#include <stdio.h>
#include <stdlib.h>

static cuzk_status read_ordinal(const char *text, uint32_t *out, cuzk_error *err)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || v > 1000)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "\"%.40s\" is not the number of a device", text);
    *out = (uint32_t)v;
    return CUZK_OK;
}

static cuzk_status clear(client *c, uint32_t ordinal, int *was_set_aside, cuzk_error *err)
{
    Cuzk__V1__ClearQuarantineRequest m = CUZK__V1__CLEAR_QUARANTINE_REQUEST__INIT;
    uint8_t request[16], *reply = NULL;
    size_t size;
    m.ordinal = ordinal;
    size_t n = cuzk__v1__clear_quarantine_request__pack(&m, request);
    cuzk_status s = client_call(c, "ClearQuarantine", request, n, &reply, &size, 30000, err);
    if (s)
        return s;
    Cuzk__V1__ClearQuarantineResponse *r = cuzk__v1__clear_quarantine_response__unpack(NULL, size, reply);
    *was_set_aside = r && r->was_set_aside;
    if (r)
        cuzk__v1__clear_quarantine_response__free_unpacked(r, NULL);
    mem_free(reply);
    return CUZK_OK;
}

static int run_clear(const cli_args *a)
{
    cuzk_error e = {0};
    client *c;
    uint32_t ordinal = 0;
    int was = 0;
    if (read_ordinal(a->positional[0], &ordinal, &e) || client_from_args(&c, a, &e))
        return cli_fail(a, &e);
    cuzk_status s = clear(c, ordinal, &was, &e);
    client_close(c);
    if (s)
        return cli_fail(a, &e);
    if (!a->json) {
        printf(was ? "device %u is in use again\n" : "device %u was not set aside\n", ordinal);
        return EXIT_DONE;
    }
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_u64(&j, "device", ordinal);
    json_bool(&j, "was_set_aside", was);
    json_end_object(&j);
    int rc = cli_print_json(&j, EXIT_DONE);
    json_clear(&j);
    return rc;
}

static const cli_option CLEAR[] = {CLIENT_OPTIONS};
const cli_command command_device_clear = {
    .name = "device clear",
    .positional = "N",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "take a device back that the daemon set aside after repeated failures",
    .options = CLEAR,
    .option_count = sizeof(CLEAR) / sizeof(CLEAR[0]),
    .run = run_clear,
};
