/* The grammar of a C1 document, and the words for a place in it. */
#include "filecoin/c1_parser.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const c1_member DOCUMENT[] = {
    [DOC_PHASE1] = {"Phase1Out", C1_BASE64, 0},
    [DOC_SECTOR] = {"SectorNum", C1_U64, 0},
    [DOC_SIZE] = {"SectorSize", C1_U64, 0},
    [DOC_PROOF] = {"registered_proof", C1_NAME, 0},
    [DOC_VANILLA] = {"vanilla_proofs", C1_VANILLA, 0},
    [DOC_COMM_R] = {"comm_r", C1_BYTES, 0},
    [DOC_COMM_D] = {"comm_d", C1_BYTES, 0},
    [DOC_REPLICA] = {"replica_id", C1_BYTES, 0},
    [DOC_SEED] = {"seed", C1_BYTES, 0},
    [DOC_TICKET] = {"ticket", C1_BYTES, 0},
};
static const c1_member CHALLENGE[] = {
    {"comm_d_proofs", C1_MERKLE, 0},
    {"comm_r_last_proof", C1_MERKLE, 0},
    {"replica_column_proofs", C1_COLUMN_PROOFS, 0},
    {"labeling_proofs", C1_LABELINGS, 0},
    {"encoding_proof", C1_ENCODING, 0},
};
static const c1_member COLUMN_PROOFS[] = {
    {"c_x", C1_COLUMN_PROOF, 0}, {"drg_parents", C1_DRG, 0}, {"exp_parents", C1_EXP, 0}};
static const c1_member COLUMN_PROOF[] = {{"column", C1_COLUMN, 0}, {"inclusion_proof", C1_MERKLE, 0}};
static const c1_member COLUMN[] = {{"index", C1_U32, 0}, {"rows", C1_ROWS, 0}};
static const c1_member MERKLE[] = {{"data", C1_MERKLE_DATA, 0}};
static const c1_member MERKLE_DATA[] = {{"Single", C1_SINGLE, 1}, {"Sub", C1_SUB, 1}, {"Top", C1_TOP, 1}};
static const c1_member SINGLE[] = {{"root", C1_BYTES, 0}, {"leaf", C1_BYTES, 0}, {"path", C1_PATH, 0}};
static const c1_member SUB[] = {
    {"root", C1_BYTES, 0}, {"leaf", C1_BYTES, 0}, {"base_proof", C1_PATH, 0}, {"sub_proof", C1_PATH, 0}};
static const c1_member TOP[] = {{"root", C1_BYTES, 0},
                                {"leaf", C1_BYTES, 0},
                                {"base_proof", C1_PATH, 0},
                                {"sub_proof", C1_PATH, 0},
                                {"top_proof", C1_PATH, 0}};
static const c1_member PATH[] = {{"path", C1_LEVELS, 0}};
static const c1_member LEVEL[] = {{"hashes", C1_HASHES, 0}, {"index", C1_U64, 0}};
static const c1_member LABELING[] = {
    {"parents", C1_PARENTS, 0}, {"layer_index", C1_U32, 0}, {"node", C1_U64, 0}};

#define OBJECT(table)                                                                                        \
    {                                                                                                        \
        "an object", table, sizeof table / sizeof table[0], 1, 0, 0                                          \
    }
#define ARRAY(words, element)                                                                                \
    {                                                                                                        \
        words, NULL, 0, 0, 1, element                                                                        \
    }
const c1_rule c1_rules[C1_KINDS] = {
    [C1_NAME] = {"a string", NULL, 0, 0, 0, 0},
    [C1_BASE64] = {"a string of base64", NULL, 0, 0, 0, 0},
    [C1_U32] = {"a number below 2^32", NULL, 0, 0, 0, 0},
    [C1_U64] = {"a number below 2^64", NULL, 0, 0, 0, 0},
    [C1_DOCUMENT] = OBJECT(DOCUMENT),
    [C1_VANILLA] = {"an object", NULL, 0, 1, 0, 0}, /* its members are the names of the registered sizes */
    [C1_CHALLENGE] = OBJECT(CHALLENGE),
    [C1_COLUMN_PROOFS] = OBJECT(COLUMN_PROOFS),
    [C1_COLUMN_PROOF] = OBJECT(COLUMN_PROOF),
    [C1_COLUMN] = OBJECT(COLUMN),
    [C1_MERKLE] = OBJECT(MERKLE),
    [C1_MERKLE_DATA] = OBJECT(MERKLE_DATA),
    [C1_SINGLE] = OBJECT(SINGLE),
    [C1_SUB] = OBJECT(SUB),
    [C1_TOP] = OBJECT(TOP),
    [C1_PATH] = OBJECT(PATH),
    [C1_LEVEL] = OBJECT(LEVEL),
    [C1_LABELING] = OBJECT(LABELING),
    [C1_ENCODING] = OBJECT(LABELING),
    [C1_BYTES] = ARRAY("an array of 32 numbers", C1_SKIP),
    [C1_PARTITIONS] = ARRAY("an array of partitions", C1_PARTITION),
    [C1_PARTITION] = ARRAY("an array of challenges", C1_CHALLENGE),
    [C1_DRG] = ARRAY("an array of 6 column proofs", C1_COLUMN_PROOF),
    [C1_EXP] = ARRAY("an array of 8 column proofs", C1_COLUMN_PROOF),
    [C1_ROWS] = ARRAY("an array of labels", C1_BYTES),
    [C1_LABELINGS] = ARRAY("an array of labeling proofs", C1_LABELING),
    [C1_PARENTS] = ARRAY("an array of 37 labels", C1_BYTES),
    [C1_LEVELS] = ARRAY("an array of path elements", C1_LEVEL),
    [C1_HASHES] = ARRAY("an array of hashes", C1_BYTES),
};

static void append(char *out, size_t n, size_t *used, const char *format, ...) CUZK_PRINTF(4, 5);
static void append(char *out, size_t n, size_t *used, const char *format, ...)
{
    va_list args;
    if (*used >= n)
        return;
    va_start(args, format);
    int k = vsnprintf(out + *used, n - *used, format, args);
    va_end(args);
    if (k > 0)
        *used += (size_t)k;
}

void c1_place(const c1_parser *p, char *out, size_t n)
{
    size_t used = 0;
    int first = 0;
    out[0] = 0;
    /* Partition and challenge in words; what lies below them as a path of member names. */
    for (int i = 0; i < p->depth; i++) {
        const c1_frame *f = &p->frame[i];
        if (f->kind == C1_PARTITIONS && f->count)
            append(out, n, &used, "partition %u", f->count - 1), first = i + 1;
        else if (f->kind == C1_PARTITION && f->count)
            append(out, n, &used, ", challenge %u", f->count - 1), first = i + 1;
    }
    if (used)
        append(out, n, &used, ": ");
    size_t start = used;
    for (int i = first; i < p->depth; i++) {
        const c1_frame *f = &p->frame[i];
        const c1_rule *r = &c1_rules[f->kind];
        if (r->is_array && f->count)
            append(out, n, &used, "[%u]", f->count - 1);
        else if (r->is_object && r->members && f->member >= 0)
            append(out, n, &used, "%s%s", used > start ? "." : "", r->members[f->member].name);
    }
    if (used == start)
        append(out, n, &used, start ? "the challenge" : "the document");
}

int c1_fail(c1_parser *p, cuzk_status status, const char *format, ...)
{
    char place[256], sentence[256];
    va_list args;
    if (p->status != CUZK_OK)
        return 0;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    c1_place(p, place, sizeof place);
    p->status =
        cuzk_error_set(p->err, status, "C1: %s%s: %s", p->wrapped ? "Phase1Out: " : "", place, sentence);
    return 0;
}

uint32_t c1_segment_levels(const merkle_shape *s, int segment)
{
    return segment == 0 ? s->base_levels : segment == 1 ? s->sub != 0 : s->top != 0;
}

uint32_t c1_segment_arity(const merkle_shape *s, int segment)
{
    return segment == 0 ? s->base : segment == 1 ? s->sub : s->top;
}
