/* The C1 reader's inside: what the document's grammar is (c1_schema.c), what each event does (c1_events.c),
 * and how the text is fed (c1_parse.c). Independent of the JSON library: c1_parse.c alone speaks to it.
 *
 * Every open container is a frame. Its kind says which members or elements it may hold; a value's kind
 * follows from the frame and the member or position, so that one table decides what is accepted and one walk
 * over the frames tells where an error lies. */
#ifndef FILECOIN_C1_PARSER_H
#define FILECOIN_C1_PARSER_H
#include "filecoin/arena.h"
#include "filecoin/porep.h"
#include <setjmp.h>

typedef enum c1_kind {
    C1_SKIP, /* ignored, whatever it is */
    C1_NAME, /* scalars */
    C1_BASE64,
    C1_U32,
    C1_U64,
    C1_DOCUMENT, /* objects */
    C1_VANILLA,
    C1_CHALLENGE,
    C1_COLUMN_PROOFS,
    C1_COLUMN_PROOF,
    C1_COLUMN,
    C1_MERKLE,
    C1_MERKLE_DATA,
    C1_SINGLE,
    C1_SUB,
    C1_TOP,
    C1_PATH,
    C1_LEVEL,
    C1_LABELING,
    C1_ENCODING,
    C1_BYTES, /* arrays */
    C1_PARTITIONS,
    C1_PARTITION,
    C1_DRG,
    C1_EXP,
    C1_ROWS,
    C1_LABELINGS,
    C1_PARENTS,
    C1_LEVELS,
    C1_HASHES,
    C1_KINDS
} c1_kind;

typedef struct c1_member {
    const char *name;
    uint8_t kind, optional;
} c1_member;
typedef struct c1_rule {
    const char *expected; /* "an object", "an array of 37 hashes" */
    const c1_member *members;
    uint8_t member_count, is_object, is_array, element;
} c1_rule;
extern const c1_rule c1_rules[C1_KINDS];

/* Positions in the table of the document's members. */
enum {
    DOC_PHASE1,
    DOC_SECTOR,
    DOC_SIZE,
    DOC_PROOF,
    DOC_VANILLA,
    DOC_COMM_R,
    DOC_COMM_D,
    DOC_REPLICA,
    DOC_SEED,
    DOC_TICKET
};
#define DOC_OUTER (1u << DOC_PHASE1 | 1u << DOC_SECTOR | 1u << DOC_SIZE)
#define DOC_INNER (0x7fu << DOC_PROOF)

typedef struct c1_frame {
    uint8_t kind;
    int8_t member;         /* object: the member being read, -1 for one that is ignored */
    uint32_t seen;         /* object: members met so far */
    uint32_t count, limit; /* array: elements begun, and how many it must have */
    uint8_t *dest;         /* array of bytes or of hashes: where they go */
} c1_frame;
#define C1_MAX_DEPTH 24
#define C1_MAX_SKIP  512 /* nesting inside an ignored value */

typedef struct c1_parser {
    c1_frame frame[C1_MAX_DEPTH];
    int depth;
    uint32_t skip; /* depth inside an ignored value */
    int wrapped;   /* reading what Phase1Out held */
    uint32_t document_seen, wrapped_seen;
    porep_c1 *c1;
    arena *arena;
    size_t capacity; /* challenges allocated */
    uint32_t first_in_partition;
    uint64_t vanilla_size; /* sector size by the name of vanilla_proofs' member */
    const circuit_info *circuit;
    merkle_shape shape_r, shape_d;
    /* what is being read */
    porep_challenge challenge;
    porep_column *column;
    porep_labeling *labeling;
    merkle_proof *proof;
    const merkle_shape *shape;
    merkle_level path[3][MERKLE_MAX_LEVELS]; /* base, sub, top: members come in any order */
    uint32_t path_levels[3];
    int segment;
    const cancel_token *cancel;
    uint32_t arrays; /* ended so far; the token is looked at every so many */
    cuzk_error *err;
    cuzk_status status;
    struct block *blocks; /* what the JSON library holds */
    jmp_buf out_of_memory;
    /* Reads the text that a Phase1Out string encodes, with this parser. */
    int (*unwrap)(struct c1_parser *p, const char *text, size_t n);
} c1_parser;

/* Events; 1 to go on, 0 to stop with status and err set. */
int c1_begin_object(c1_parser *p);
int c1_key(c1_parser *p, const char *name, size_t n);
int c1_end_object(c1_parser *p);
int c1_begin_array(c1_parser *p);
int c1_end_array(c1_parser *p);
int c1_number(c1_parser *p, const char *text, size_t n);
int c1_string(c1_parser *p, const char *text, size_t n);
int c1_literal(c1_parser *p, const char *what); /* null, true, false */
/* After the text: is everything there and does it agree? */
cuzk_status c1_finish(c1_parser *p);

/* Fails with "PLACE: sentence". Returns 0. */
int c1_fail(c1_parser *p, cuzk_status status, const char *format, ...) CUZK_PRINTF(3, 4);
void c1_place(const c1_parser *p, char *out, size_t n);
uint32_t c1_segment_levels(const merkle_shape *s, int segment);
uint32_t c1_segment_arity(const merkle_shape *s, int segment);
#endif
