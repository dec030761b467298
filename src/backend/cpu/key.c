/* A key on the CPU: the circuit, its domain, and as many of the decoded queries as memory allows. */
#include "backend/cpu/cpu.h"
#include <stdio.h>
#include <string.h>

static unsigned log_domain(uint64_t rows)
{
    unsigned k = 0;
    while (((uint64_t)1 << k) < rows)
        k++;
    return k;
}

static size_t point_bytes(int query)
{
    return query == QUERY_B_G2 ? sizeof(g2_affine) : sizeof(g1_affine);
}

static cuzk_status check_counts(const cuzk_device_key *key, unsigned log_n, cuzk_error *err)
{
    const cuzk_circuit_view *c = &key->circuit;
    query_shape l = {.aux = c->aux}, a = {c->inputs, NULL, c->aux, c->a_density},
                b = {c->inputs, c->b_input_density, c->aux, c->b_density};
    uint64_t need[QUERY_COUNT] = {[QUERY_H] = ((uint64_t)1 << log_n) - 1,
                                  [QUERY_L] = query_shape_count(&l),
                                  [QUERY_A] = query_shape_count(&a),
                                  [QUERY_B_G1] = query_shape_count(&b)};
    need[QUERY_B_G2] = need[QUERY_B_G1];
    for (int i = 0; i < QUERY_COUNT; i++) {
        if (key->query[i].count != need[i])
            return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                                  "the %s query has %llu points, the circuit needs %llu", key->query[i].name,
                                  (unsigned long long)key->query[i].count, (unsigned long long)need[i]);
    }
    return CUZK_OK;
}

/* Bytes that a proof needs beside the key: a, b and scratch of the quotient, and some room. */
static uint64_t working_bytes(const cuzk_device *device, unsigned log_n)
{
    return 3 * (sizeof(fr) << log_n) + quotient_memory(log_n, pool_size(device->pool)) +
           ((uint64_t)512 << 20);
}

/* Chooses the queries that are kept decoded, while they fit. The H query first: every proof uses all of it,
 * of the others about half. */
static void plan_queries(cuzk_device_key *key, unsigned log_n)
{
    static const int order[QUERY_COUNT] = {QUERY_H, QUERY_A, QUERY_L, QUERY_B_G2, QUERY_B_G1};
    const cuzk_device_options *o = &key->device->options;
    if (o->stream_queries)
        return;
    uint64_t limit = o->memory_limit ? o->memory_limit : mem_available_bytes() / 2;
    uint64_t taken = key->bytes + working_bytes(key->device, log_n);
    for (int i = 0; i < QUERY_COUNT; i++) {
        cpu_query *q = &key->query[order[i]];
        uint64_t bytes = q->count * point_bytes(order[i]);
        if (taken + bytes > limit)
            continue;
        q->keep = 1;
        taken += bytes;
        key->bytes += bytes;
    }
}

cuzk_status cpu_key_decode(cuzk_device_key *key, const cpu_stop *stop, cuzk_error *err)
{
    cuzk_status s = CUZK_OK;
    for (int i = 0; i < QUERY_COUNT && s == CUZK_OK; i++) {
        cpu_query *q = &key->query[i];
        if (!q->keep || q->points || !(q->points = big_alloc(q->count * point_bytes(i))))
            continue; /* without memory it stays streamed */
        s = i == QUERY_B_G2 ? cpu_decode_g2(q->points, key, i, stop, err)
                            : cpu_decode_g1(q->points, key, i, stop, err);
        if (s == CUZK_OK)
            continue;
        big_free(q->points, q->count * point_bytes(i));
        q->points = NULL;
    }
    return s;
}

/* Every point, whether it is kept or not. */
static cuzk_status cpu_key_check(const cuzk_device_key *key, cuzk_error *err)
{
    cuzk_status s = CUZK_OK;
    for (int i = 0; i < QUERY_COUNT && s == CUZK_OK; i++)
        s = i == QUERY_B_G2 ? cpu_check_g2(key, i, err) : cpu_check_g1(key, i, err);
    return s;
}

static void describe_plan(const cuzk_device_key *key, char *plan, size_t size)
{
    if (!plan || !size)
        return;
    char kept[64] = "", streamed[64] = "";
    for (int i = 0; i < QUERY_COUNT; i++) {
        char *list = key->query[i].keep ? kept : streamed;
        snprintf(list + strlen(list), 64 - strlen(list), "%s%s", list[0] ? ", " : "", key->query[i].name);
    }
    snprintf(plan, size, "kept decoded from the second proof on: %s; streamed: %s; %llu MiB on %u threads",
             kept[0] ? kept : "none", streamed[0] ? streamed : "none", (unsigned long long)(key->bytes >> 20),
             pool_size(key->device->pool));
}

cuzk_status cpu_key_load(cuzk_device *device, cuzk_device_key **out, const cuzk_circuit_view *circuit,
                         const cuzk_query_view *queries, char *plan, size_t plan_size, cuzk_error *err)
{
    *out = NULL;
    cuzk_device_key *key = mem_calloc(1, sizeof(*key));
    if (!key)
        return mem_error(err, sizeof(*key), "a key");
    key->device = device;
    key->circuit = *circuit;
    key->view = *queries;
    key->query[QUERY_H] = (cpu_query){.name = "h", .encoded = queries->h, .count = queries->h_count};
    key->query[QUERY_L] = (cpu_query){.name = "l", .encoded = queries->l, .count = queries->l_count};
    key->query[QUERY_A] = (cpu_query){.name = "a", .encoded = queries->a, .count = queries->a_count};
    key->query[QUERY_B_G1] =
        (cpu_query){.name = "b_g1", .encoded = queries->b_g1, .count = queries->b_g1_count};
    key->query[QUERY_B_G2] =
        (cpu_query){.name = "b_g2", .encoded = queries->b_g2, .count = queries->b_g2_count};
    unsigned log_n = log_domain(circuit->constraints);
    cuzk_status s;
    if (log_n > DOMAIN_MAX_LOG)
        s = cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                           "%llu constraints are more than the largest domain has",
                           (unsigned long long)circuit->constraints);
    else
        s = check_counts(key, log_n, err);
    if (s == CUZK_OK)
        s = domain_create(&key->domain, log_n, 7, err);
    if (s == CUZK_OK) {
        key->bytes = domain_memory(log_n);
        pool_keep(device->pool, working_bytes(device, log_n));
        plan_queries(key, log_n);
        if (device->options.check_points)
            s = cpu_key_check(key, err);
    }
    if (s != CUZK_OK) {
        cpu_key_unload(key);
        return s;
    }
    describe_plan(key, plan, plan_size);
    *out = key;
    return CUZK_OK;
}

void cpu_key_unload(cuzk_device_key *key)
{
    if (!key)
        return;
    for (int i = 0; i < QUERY_COUNT; i++) {
        if (key->query[i].points)
            big_free(key->query[i].points, key->query[i].count * point_bytes(i));
    }
    domain_destroy(key->domain);
    pool_trim(key->device->pool);
    mem_free(key);
}

uint64_t cpu_key_bytes(const cuzk_device_key *key)
{
    return key->bytes;
}
