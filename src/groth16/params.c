/* Parameter files: opening. The layout is the verifying key, then h, l, a, b_g1 and b_g2, each a big-endian
 * count and its points; every count is held against what the file has left before anything depends on it. */
#include "base/encode.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const section_names[PARAMS_SECTIONS] = {"h", "l", "a", "b_g1", "b_g2"};

cuzk_status params_read(const params *p, void *dst, uint64_t offset, size_t size, cuzk_error *err)
{
    uint8_t *d = dst;
    while (size) {
        ssize_t k = pread(p->map.fd, d, size, (off_t)offset);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return cuzk_error_set(err, CUZK_IO_ERROR, "cannot read %s: %s", p->path, strerror(errno));
        if (k == 0)
            return cuzk_error_set(err, CUZK_BAD_INPUT,
                                  "%s was cut to less than %llu bytes while it was in use", p->path,
                                  (unsigned long long)(offset + size));
        d += k;
        offset += (uint64_t)k;
        size -= (size_t)k;
    }
    return CUZK_OK;
}

static cuzk_status read_query(void *ctx, void *dst, const uint8_t *src, size_t size, cuzk_error *err)
{
    const params *p = ctx;
    return params_read(p, dst, (uint64_t)(src - p->map.data), size, err);
}

void params_get_section(const params *p, int i, params_section *out)
{
    const cuzk_query_view *q = &p->q;
    const uint8_t *const start[PARAMS_SECTIONS] = {q->h, q->l, q->a, q->b_g1, q->b_g2};
    const uint64_t count[PARAMS_SECTIONS] = {q->h_count, q->l_count, q->a_count, q->b_g1_count,
                                             q->b_g2_count};
    *out =
        (params_section){section_names[i], (uint64_t)(start[i] - p->map.data), count[i], i == 4 ? 192 : 96};
}

/* The key at the head of the file; *used is where h begins. */
static cuzk_status open_key(params *p, uint64_t *used, cuzk_error *err)
{
    uint8_t head[VK_HEAD_BYTES], *key = NULL;
    size_t have = p->map.size < sizeof(head) ? p->map.size : sizeof(head);
    cuzk_status s = params_read(p, head, 0, have, err);
    if (s != CUZK_OK)
        return s;
    char text[160];
    describe_text(text, sizeof(text), head, have);
    if (text[0])
        return cuzk_error_set(err, CUZK_BAD_INPUT, "this is no parameter file: %s", text);
    if (have < sizeof(head))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "this is no parameter file: it has only %zu bytes",
                              p->map.size);
    uint64_t ic = load_be32(head + VK_HEAD_BYTES - 4), bytes = VK_HEAD_BYTES + 96 * ic;
    if (ic == 0 || bytes > p->map.size)
        return cuzk_error_set(
            err, CUZK_BAD_INPUT,
            "the key says that it holds %llu ic points, but the file has %zu bytes in all: it is cut "
            "short or no parameter file",
            (unsigned long long)ic, p->map.size);
    key = mem_alloc(bytes);
    if (!key)
        return mem_error(err, bytes, "a verifying key");
    s = params_read(p, key, 0, bytes, err);
    size_t parsed = 0;
    if (s == CUZK_OK)
        s = vk_parse(&p->vk, key, bytes, &parsed, err);
    *used = bytes;
    mem_free(key);
    return s;
}

static cuzk_status open_sections(params *p, uint64_t at, cuzk_error *err)
{
    const uint8_t **const start[PARAMS_SECTIONS] = {&p->q.h, &p->q.l, &p->q.a, &p->q.b_g1, &p->q.b_g2};
    uint64_t *const counts[PARAMS_SECTIONS] = {&p->q.h_count, &p->q.l_count, &p->q.a_count, &p->q.b_g1_count,
                                               &p->q.b_g2_count};
    uint64_t size = p->map.size;
    for (int i = 0; i < PARAMS_SECTIONS; i++) {
        if (size - at < 4)
            return cuzk_error_set(err, CUZK_BAD_INPUT, "the file ends before its %s section: it is cut short",
                                  section_names[i]);
        uint8_t word[4];
        cuzk_status s = params_read(p, word, at, 4, err);
        if (s != CUZK_OK)
            return s;
        uint64_t count = load_be32(word), bytes = count * (i == 4 ? 192 : 96);
        at += 4;
        if (bytes > size - at)
            return cuzk_error_set(
                err, CUZK_BAD_INPUT,
                "the %s section says that it holds %llu points in %llu bytes, but only %llu bytes are "
                "left: the file is cut short or damaged",
                section_names[i], (unsigned long long)count, (unsigned long long)bytes,
                (unsigned long long)(size - at));
        *start[i] = p->map.data + at;
        *counts[i] = count;
        at += bytes;
    }
    if (at != size)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%llu bytes follow the last section: the file is damaged",
                              (unsigned long long)(size - at));
    return CUZK_OK;
}

/* What holds for the counts of every parameter file, whatever its circuit. */
static cuzk_status check_counts(const params *p, cuzk_error *err)
{
    const cuzk_query_view *q = &p->q;
    uint64_t wires = p->vk.ic_count + q->l_count, n = q->h_count + 1;
    const char *wrong = NULL;
    if (n & (n - 1))
        wrong = "the h section does not belong to a power of two";
    else if (q->a_count > wires || q->b_g1_count > wires)
        wrong = "the a or b section holds more points than there are wires";
    else if (q->b_g1_count != q->b_g2_count)
        wrong = "the b_g1 and b_g2 sections hold different numbers of points";
    return wrong ? cuzk_error_set(err, CUZK_BAD_INPUT, "%s: the file is damaged", wrong) : CUZK_OK;
}

cuzk_status params_open(params **out, const char *path, cuzk_error *err)
{
    *out = NULL;
    params *p = mem_calloc(1, sizeof(*p));
    if (!p)
        return mem_error(err, sizeof(*p), "a parameter file");
    p->map.fd = -1;
    p->path = strdup(path);
    cuzk_status s = p->path ? file_map_open(&p->map, path, err) : mem_error(err, strlen(path), "a path");
    if (s != CUZK_OK) {
        params_close(p);
        return s;
    }
    uint64_t at = 0;
    s = open_key(p, &at, err);
    if (s == CUZK_OK)
        s = open_sections(p, at, err);
    if (s == CUZK_OK)
        s = check_counts(p, err);
    if (s != CUZK_OK) {
        cuzk_error_prefix(err, "%s", path);
        params_close(p);
        return s;
    }
    p->q.read = read_query;
    p->q.read_ctx = p;
    *out = p;
    return CUZK_OK;
}

void params_close(params *p)
{
    if (!p)
        return;
    vk_clear(&p->vk);
    file_map_close(&p->map);
    free(p->path);
    mem_free(p);
}

cuzk_status vk_open_params(verifying_key *vk, const char *path, cuzk_error *err)
{
    params *p;
    memset(vk, 0, sizeof(*vk));
    cuzk_status s = params_open(&p, path, err);
    if (s != CUZK_OK)
        return s;
    *vk = p->vk;
    memset(&p->vk, 0, sizeof(p->vk)); /* taken */
    params_close(p);
    return CUZK_OK;
}

unsigned domain_log_for(uint64_t rows)
{
    unsigned k = 0;
    while (((uint64_t)1 << k) < rows)
        k++;
    return k;
}

cuzk_status params_match(const params *p, const r1cs *r, cuzk_error *err)
{
    r1cs_counts c;
    r1cs_get_counts(r, &c);
    const cuzk_query_view *q = &p->q;
    const struct {
        const char *what;
        uint64_t file, circuit;
    } rows[] = {
        {"public inputs", p->vk.ic_count, c.inputs},
        {"points in h", q->h_count, ((uint64_t)1 << domain_log_for(c.constraints)) - 1},
        {"points in l", q->l_count, c.aux},
        {"points in a", q->a_count, c.inputs + c.a_aux_density},
        {"points in b_g1", q->b_g1_count, c.b_input_density + c.b_aux_density},
        {"points in b_g2", q->b_g2_count, c.b_input_density + c.b_aux_density},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].file != rows[i].circuit)
            return cuzk_error_set(err, CUZK_INCONSISTENT,
                                  "%s belongs to another circuit than %s: it has %llu %s, the circuit %llu",
                                  p->path, r1cs_name(r), (unsigned long long)rows[i].file, rows[i].what,
                                  (unsigned long long)rows[i].circuit);
    }
    return CUZK_OK;
}
