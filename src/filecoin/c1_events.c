/* What each event of the JSON text does to the C1 that is being read. Limits are known before anything is
 * allocated: the sector size names layers, levels and challenges, the registered proof the partitions. */
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/c1_parser.h"
#include <string.h>

static c1_frame *top(c1_parser *p)
{
    return &p->frame[p->depth - 1];
}

static int wrong_type(c1_parser *p, c1_kind kind, const char *what)
{
    return c1_fail(p, CUZK_BAD_INPUT, "%s where %s is expected", what, c1_rules[kind].expected);
}

/* The kind of the value that begins now; counts it in an array. 0 with C1_KINDS on failure. */
static c1_kind next_kind(c1_parser *p)
{
    if (!p->depth)
        return C1_DOCUMENT;
    c1_frame *f = top(p);
    const c1_rule *r = &c1_rules[f->kind];
    if (r->is_array) {
        if (f->count == f->limit) {
            f->count = 0; /* the place is the array, not an element */
            c1_fail(p, CUZK_BAD_INPUT, "more than %u elements", f->limit);
            return C1_KINDS;
        }
        f->count++;
        return r->element;
    }
    if (f->member < 0)
        return C1_SKIP;
    if (f->kind == C1_VANILLA)
        return C1_PARTITIONS;
    return r->members[f->member].kind;
}

/* ---- containers ---- */

static uint8_t *bytes_destination(c1_parser *p)
{
    c1_frame *f = top(p);
    porep_c1 *c = p->c1;
    switch (f->kind) {
    case C1_DOCUMENT:
        switch (f->member) {
        case DOC_COMM_R:
            return c->comm_r;
        case DOC_COMM_D:
            return c->comm_d;
        case DOC_REPLICA:
            return c->replica_id;
        case DOC_SEED:
            return c->seed;
        default:
            return c->ticket;
        }
    case C1_SINGLE:
    case C1_SUB:
    case C1_TOP:
        return f->member == 0 ? p->proof->root : p->proof->leaf;
    default: /* an array of hashes */
        return f->dest + 32 * (size_t)(f->count - 1);
    }
}

static uint8_t *hashes_alloc(c1_parser *p, uint32_t count)
{
    uint8_t *d = arena_alloc(p->arena, (size_t)count * 32);
    if (!d)
        p->status = mem_error(p->err, (size_t)count * 32, "a C1 document");
    return d;
}

static void select_column(c1_parser *p)
{
    c1_frame *f = top(p);
    if (f->kind == C1_COLUMN_PROOFS)
        p->column = &p->challenge.c_x;
    else
        p->column = (f->kind == C1_DRG ? p->challenge.drg : p->challenge.exp) + (f->count - 1);
}

static void select_proof(c1_parser *p)
{
    c1_frame *f = top(p);
    p->shape = &p->shape_r;
    if (f->kind == C1_COLUMN_PROOF) {
        p->proof = &p->column->inclusion;
    } else if (f->member == 0) {
        p->proof = &p->challenge.comm_d;
        p->shape = &p->shape_d;
    } else {
        p->proof = &p->challenge.comm_r_last;
    }
    memset(p->path_levels, 0, sizeof p->path_levels);
}

/* Which of the three forms a tree's proof takes follows from its shape. */
static int check_form(c1_parser *p, c1_kind form)
{
    c1_kind want = p->shape->top ? C1_TOP : p->shape->sub ? C1_SUB : C1_SINGLE;
    static const char *const names[] = {"Single", "Sub", "Top"};
    if (form == want)
        return 1;
    return c1_fail(p, CUZK_BAD_INPUT, "a tree of %s has %s proofs, not %s", sector_size_name(p->vanilla_size),
                   names[want - C1_SINGLE], names[form - C1_SINGLE]);
}

/* Prepares what a container of this kind is read into and how many elements it must have. The frame is not
 * yet pushed: top is the parent. */
static int prepare(c1_parser *p, c1_frame *f)
{
    const circuit_info *ci = p->circuit;
    c1_frame *parent = p->depth ? top(p) : NULL;
    switch (f->kind) {
    case C1_PARTITIONS: {
        const registered_seal *most = seal_find(p->vanilla_size, POREP_NON_INTERACTIVE);
        f->limit = p->c1->seal ? p->c1->seal->partitions : most->partitions;
        break;
    }
    case C1_PARTITION:
        f->limit = ci->challenges;
        break;
    case C1_CHALLENGE:
        memset(&p->challenge, 0, sizeof p->challenge);
        break;
    case C1_COLUMN_PROOF:
        select_column(p);
        break;
    case C1_MERKLE:
        select_proof(p);
        break;
    case C1_SINGLE:
    case C1_SUB:
    case C1_TOP:
        return check_form(p, f->kind);
    case C1_PATH:
        p->segment = parent->member - 2; /* members after root and leaf: base, sub, top */
        break;
    case C1_LEVELS:
        f->limit = c1_segment_levels(p->shape, p->segment);
        break;
    case C1_HASHES:
        f->limit = c1_segment_arity(p->shape, p->segment) - 1;
        f->dest = hashes_alloc(p, f->limit);
        p->path[p->segment][p->path_levels[p->segment]].siblings = f->dest;
        return f->dest != NULL;
    case C1_DRG:
        f->limit = POREP_DRG_PARENTS;
        break;
    case C1_EXP:
        f->limit = POREP_EXP_PARENTS;
        break;
    case C1_LABELINGS:
        f->limit = ci->layers;
        break;
    case C1_LABELING:
        p->labeling = &p->challenge.labeling[parent->count - 1];
        break;
    case C1_ENCODING:
        p->labeling = &p->challenge.encoding;
        break;
    case C1_ROWS:
        f->limit = ci->layers;
        p->column->rows = f->dest = hashes_alloc(p, f->limit);
        return f->dest != NULL;
    case C1_PARENTS:
        f->limit = POREP_PARENTS;
        p->labeling->parent_count = POREP_PARENTS;
        p->labeling->parents = f->dest = hashes_alloc(p, f->limit);
        return f->dest != NULL;
    case C1_BYTES:
        f->limit = 32;
        f->dest = bytes_destination(p);
        break;
    default:
        break;
    }
    return 1;
}

static int begin(c1_parser *p, int is_array)
{
    if (p->skip) {
        if (p->skip == C1_MAX_SKIP)
            return c1_fail(p, CUZK_BAD_INPUT, "an ignored member is nested more than %d deep", C1_MAX_SKIP);
        p->skip++;
        return 1;
    }
    c1_kind kind = next_kind(p);
    if (kind == C1_KINDS)
        return 0;
    if (kind == C1_SKIP && (!p->depth || top(p)->kind != C1_BYTES)) {
        p->skip = 1;
        return 1;
    }
    if (p->depth && top(p)->kind == C1_BYTES)
        return c1_fail(p, CUZK_BAD_INPUT, "%s where a number from 0 to 255 is expected",
                       is_array ? "an array" : "an object");
    const c1_rule *r = &c1_rules[kind];
    if (is_array ? !r->is_array : !r->is_object)
        return wrong_type(p, kind, is_array ? "an array" : "an object");
    c1_frame f = {.kind = (uint8_t)kind, .member = -1};
    if (!prepare(p, &f))
        return 0;
    p->frame[p->depth++] = f; /* the grammar is 17 deep */
    return 1;
}

int c1_begin_object(c1_parser *p)
{
    return begin(p, 0);
}

int c1_begin_array(c1_parser *p)
{
    return begin(p, 1);
}

/* vanilla_proofs has one member, named by the sector size whatever the version: StackedDrg32GiBV1. */
static int vanilla_key(c1_parser *p, const char *name, size_t n)
{
    char text[64];
    c1_frame *f = top(p);
    size_t k = n < sizeof text - 1 ? n : sizeof text - 1;
    memcpy(text, name, k);
    text[k] = 0;
    const registered_seal *s = n == k ? seal_by_name(text) : NULL;
    if (!s || s->version != POREP_V1)
        return c1_fail(p, CUZK_BAD_INPUT,
                       "member \"%s\" is not the name of a sector size (such as StackedDrg32GiBV1)", text);
    if (f->seen)
        return c1_fail(p, CUZK_BAD_INPUT, "there are members for two sector sizes");
    if (p->c1->seal && p->c1->seal->sector_size != s->sector_size)
        return c1_fail(p, CUZK_INCONSISTENT, "the member is named %s, the registered proof is %s", s->name,
                       p->c1->seal->name);
    f->seen = 1;
    f->member = 0;
    p->vanilla_size = s->sector_size;
    p->circuit = circuit_find(CIRCUIT_POREP, s->sector_size);
    merkle_shape_poseidon(&p->shape_r, s->sector_size);
    merkle_shape_sha256(&p->shape_d, s->sector_size);
    return 1;
}

int c1_key(c1_parser *p, const char *name, size_t n)
{
    if (p->skip)
        return 1;
    c1_frame *f = top(p);
    if (f->kind == C1_VANILLA)
        return vanilla_key(p, name, n);
    const c1_rule *r = &c1_rules[f->kind];
    f->member = -1;
    for (int i = 0; i < r->member_count; i++) {
        if (strlen(r->members[i].name) != n || memcmp(r->members[i].name, name, n))
            continue;
        if (f->kind == C1_DOCUMENT && p->wrapped && DOC_OUTER >> i & 1)
            return 1; /* unknown in the inner document */
        f->member = (int8_t)i;
        if (f->seen >> i & 1)
            return c1_fail(p, CUZK_BAD_INPUT, "the member appears twice");
        uint32_t excluded = i == DOC_PHASE1 ? DOC_INNER : DOC_INNER & 1u << i ? 1u << DOC_PHASE1 : 0;
        if (f->kind == C1_DOCUMENT && f->seen & excluded)
            return c1_fail(p, CUZK_BAD_INPUT,
                           "the document holds both Phase1Out and members of the inner document");
        f->seen |= 1u << i;
        return 1;
    }
    return 1;
}

/* ---- ends ---- */

/* The paths of a Merkle proof's two or three members, in their order from the leaf. */
static void assemble_proof(c1_parser *p)
{
    merkle_proof *m = p->proof;
    m->levels = 0;
    for (int s = 0; s < 3; s++) {
        memcpy(m->level + m->levels, p->path[s], p->path_levels[s] * sizeof *m->level);
        m->levels += p->path_levels[s];
    }
}

static int append_challenge(c1_parser *p)
{
    porep_c1 *c = p->c1;
    size_t n = (size_t)c->partitions * p->circuit->challenges + p->first_in_partition;
    if (n == p->capacity) {
        size_t more = p->capacity ? 2 * p->capacity : 32;
        porep_challenge *grown = mem_realloc(c->challenge, more * sizeof *grown);
        if (!grown) {
            p->status = mem_error(p->err, more * sizeof *grown, "the challenges of a C1 document");
            return 0;
        }
        c->challenge = grown;
        p->capacity = more;
    }
    p->challenge.layers = p->circuit->layers;
    c->challenge[n] = p->challenge;
    p->first_in_partition++;
    return 1;
}

int c1_end_object(c1_parser *p)
{
    if (p->skip) {
        p->skip--;
        return 1;
    }
    c1_frame *f = top(p);
    const c1_rule *r = &c1_rules[f->kind];
    f->member = -1;
    if (f->kind == C1_DOCUMENT) {
        *(p->wrapped ? &p->wrapped_seen : &p->document_seen) = f->seen;
        p->depth--;
        return 1;
    }
    for (int i = 0; i < r->member_count; i++)
        if (!r->members[i].optional && !(f->seen >> i & 1))
            return c1_fail(p, CUZK_BAD_INPUT, "member \"%s\" is missing", r->members[i].name);
    if (f->kind == C1_VANILLA && !f->seen)
        return c1_fail(p, CUZK_BAD_INPUT, "vanilla_proofs is empty");
    if (f->kind == C1_MERKLE_DATA) {
        if (!f->seen)
            return c1_fail(p, CUZK_BAD_INPUT, "one of \"Single\", \"Sub\" and \"Top\" is missing");
        assemble_proof(p);
    }
    if (f->kind == C1_LEVEL)
        p->path_levels[p->segment]++;
    p->depth--;
    if (f->kind == C1_CHALLENGE)
        return append_challenge(p);
    return 1;
}

int c1_end_array(c1_parser *p)
{
    if (p->skip) {
        p->skip--;
        return 1;
    }
    c1_frame *f = top(p);
    uint32_t count = f->count;
    f->count = 0; /* the place is the array */
    if (f->kind == C1_PARTITIONS) {
        if (!count || (p->c1->seal && count != f->limit))
            return c1_fail(p, CUZK_BAD_INPUT, "vanilla_proofs holds %u partitions, %u are expected", count,
                           f->limit);
    } else if (count != f->limit) {
        return c1_fail(p, CUZK_BAD_INPUT, "%u elements where %u are expected", count, f->limit);
    }
    if (f->kind == C1_PARTITION) {
        p->c1->partitions++;
        p->first_in_partition = 0;
    }
    p->depth--;
    return 1;
}

/* ---- scalars ---- */

static int parse_u64(uint64_t *out, const char *text, size_t n)
{
    uint64_t v = 0;
    if (!n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        unsigned d = (unsigned)(text[i] - '0');
        if (d > 9 || v > (UINT64_MAX - d) / 10)
            return 0;
        v = v * 10 + d;
    }
    *out = v;
    return 1;
}

static int store_number(c1_parser *p, const char *text, size_t n, uint64_t v)
{
    c1_frame *f = top(p);
    switch (f->kind) {
    case C1_DOCUMENT:
        *(f->member == DOC_SECTOR ? &p->c1->sector_number : &p->c1->sector_size) = v;
        return 1;
    case C1_COLUMN:
        p->column->index = (uint32_t)v;
        return 1;
    case C1_LABELING:
    case C1_ENCODING:
        if (f->member == 1)
            p->labeling->layer_index = (uint32_t)v;
        else
            p->labeling->node = v;
        return 1;
    default: /* a level's index */
        if (v >= c1_segment_arity(p->shape, p->segment))
            return c1_fail(p, CUZK_BAD_INPUT, "%.*s is not a position among %u nodes", n > 20 ? 20 : (int)n,
                           text, c1_segment_arity(p->shape, p->segment));
        p->path[p->segment][p->path_levels[p->segment]].position = (uint32_t)v;
        return 1;
    }
}

int c1_number(c1_parser *p, const char *text, size_t n)
{
    if (p->skip)
        return 1;
    c1_frame *f = p->depth ? top(p) : NULL;
    if (f && f->kind == C1_BYTES && f->count < 32) { /* the hot path: 99 % of the document */
        unsigned v = 256;
        if (n <= 3 && text[0] != '-') {
            v = 0;
            for (size_t i = 0; i < n; i++) {
                unsigned d = (unsigned)(text[i] - '0');
                v = d > 9 ? 256 : v * 10 + d;
            }
        }
        f->dest[f->count++] = (uint8_t)v;
        if (v <= 255)
            return 1;
        return c1_fail(p, CUZK_BAD_INPUT, "%.*s is not a byte (0 to 255)", n > 20 ? 20 : (int)n, text);
    }
    c1_kind kind = next_kind(p);
    uint64_t v;
    if (kind == C1_KINDS)
        return 0;
    if (kind == C1_SKIP)
        return 1;
    if (kind != C1_U32 && kind != C1_U64)
        return wrong_type(p, kind, "a number");
    if (!parse_u64(&v, text, n) || (kind == C1_U32 && v > UINT32_MAX))
        return c1_fail(p, CUZK_BAD_INPUT, "%.*s is not %s", n > 24 ? 24 : (int)n, text,
                       c1_rules[kind].expected);
    return store_number(p, text, n, v);
}

static int set_proof_name(c1_parser *p, const char *text, size_t n)
{
    char name[64];
    size_t k = n < sizeof name - 1 ? n : sizeof name - 1;
    memcpy(name, text, k);
    name[k] = 0;
    const registered_seal *s = n == k ? seal_by_name(name) : NULL;
    if (!s)
        return c1_fail(p, CUZK_BAD_INPUT, "\"%s\" is not a registered seal proof", name);
    p->c1->seal = s;
    if (p->vanilla_size && p->vanilla_size != s->sector_size)
        return c1_fail(p, CUZK_INCONSISTENT, "it is %s, vanilla_proofs are for sectors of %s", s->name,
                       sector_size_name(p->vanilla_size));
    return 1;
}

int c1_string(c1_parser *p, const char *text, size_t n)
{
    if (p->skip)
        return 1;
    if (p->depth && top(p)->kind == C1_BYTES)
        return c1_literal(p, "a string");
    c1_kind kind = next_kind(p);
    if (kind == C1_KINDS)
        return 0;
    if (kind == C1_SKIP)
        return 1;
    if (kind == C1_NAME)
        return set_proof_name(p, text, n);
    if (kind == C1_BASE64)
        return p->unwrap(p, text, n);
    return wrong_type(p, kind, "a string");
}

int c1_literal(c1_parser *p, const char *what)
{
    if (p->skip)
        return 1;
    int in_bytes = p->depth && top(p)->kind == C1_BYTES;
    c1_kind kind = next_kind(p);
    if (kind == C1_KINDS)
        return 0;
    if (in_bytes)
        return c1_fail(p, CUZK_BAD_INPUT, "%s where a number from 0 to 255 is expected", what);
    return kind == C1_SKIP ? 1 : wrong_type(p, kind, what);
}

/* ---- the whole ---- */

static const char *missing_member(uint32_t seen, uint32_t wanted)
{
    for (int i = 0; i < c1_rules[C1_DOCUMENT].member_count; i++)
        if (wanted >> i & 1 && !(seen >> i & 1))
            return c1_rules[C1_DOCUMENT].members[i].name;
    return NULL;
}

cuzk_status c1_finish(c1_parser *p)
{
    porep_c1 *c = p->c1;
    uint32_t seen = p->document_seen;
    c->has_sector = seen >> DOC_PHASE1 & 1;
    const char *missing;
    if (c->has_sector || (seen & DOC_OUTER && !(seen & DOC_INNER))) {
        missing = missing_member(seen, DOC_OUTER);
        if (missing)
            return cuzk_error_set(p->err, CUZK_BAD_INPUT, "C1: member \"%s\" is missing", missing);
        seen = p->wrapped_seen;
    }
    missing = missing_member(seen, DOC_INNER);
    if (missing)
        return cuzk_error_set(p->err, CUZK_BAD_INPUT, "C1: %smember \"%s\" is missing",
                              c->has_sector ? "Phase1Out: " : "", missing);
    if (c->partitions != c->seal->partitions)
        return cuzk_error_set(p->err, CUZK_BAD_INPUT, "C1: vanilla_proofs holds %u partitions, %s has %u",
                              c->partitions, c->seal->name, c->seal->partitions);
    if (c->has_sector && c->sector_size != c->seal->sector_size)
        return cuzk_error_set(
            p->err, CUZK_INCONSISTENT, "C1: SectorSize is %llu, sectors of %s have %llu bytes",
            (unsigned long long)c->sector_size, c->seal->name, (unsigned long long)c->seal->sector_size);
    c->sector_size = c->seal->sector_size;
    c->circuit = p->circuit;
    c->challenges = p->circuit->challenges;
    return CUZK_OK;
}
