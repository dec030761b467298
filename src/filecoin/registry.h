/* What Filecoin registers: circuits, their parameter files, the numbers of proofs on the wire. Tables in
 * source, checked against tests/data/{registry,circuits,parameters}.json by a test. */
#ifndef FILECOIN_REGISTRY_H
#define FILECOIN_REGISTRY_H
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

typedef enum circuit_kind { CIRCUIT_POREP, CIRCUIT_WINNING, CIRCUIT_WINDOW, CIRCUIT_UPDATE } circuit_kind;
typedef enum porep_version { POREP_V1, POREP_V1_1, POREP_SYNTHETIC, POREP_NON_INTERACTIVE } porep_version;

typedef struct circuit_info {
    const char *name;      /* "porep-32g" */
    const char *wire_name; /* "porep-32g", "wpost-32g", "snap-32g", "winning-32g" */
    const char *file;      /* registered file name without .params / .vk */
    circuit_kind kind;
    uint64_t sector_size;
    uint32_t partitions; /* of one proof (porep v1/v1_1/synthetic, update); 0 where it depends */
    uint32_t challenges; /* per partition (porep, update) or per sector (winning, window) */
    uint32_t layers;     /* porep */
    uint32_t sectors;    /* sectors per partition (winning, window) */
    uint32_t h;          /* update: the tool's default h select */
    int published;
} circuit_info;
/* Accepts the tool's and the wire's names, NULL if unknown. */
const circuit_info *circuit_by_name(const char *name);
const circuit_info *circuit_find(circuit_kind kind, uint64_t sector_size);
const circuit_info *
circuit_by_file(const char *base_name); /* "v28-....params", ".vk", with or without TEST- */
size_t circuit_count(void);
const circuit_info *circuit_at(size_t i);

typedef struct published_file {
    const char *name; /* with suffix */
    uint8_t digest[16];
    uint64_t sector_size;
    uint64_t bytes; /* derived from the circuit's counts where known, else 0 */
} published_file;
const published_file *published_file_find(const char *name);
/* By the first 16 bytes of its BLAKE2b-512, whatever it is called. */
const published_file *published_file_by_digest(const uint8_t digest[16]);

typedef struct registered_seal {
    uint32_t number;  /* 0..19 */
    const char *name; /* "StackedDrg32GiBV1_1" */
    uint64_t sector_size;
    porep_version version;
    uint32_t partitions, challenges;
    int legacy_graph; /* api version 1.0.0: older porep id / graph seed rules */
} registered_seal;
typedef struct registered_post {
    uint32_t number; /* 0..14 */
    const char *name;
    uint64_t sector_size;
    int winning;
    int per_sector_challenges; /* 10..14: numbered from 0 for each sector */
    uint32_t challenges, sectors;
} registered_post;
typedef struct registered_update {
    uint32_t number; /* 0..4 */
    const char *name;
    uint64_t sector_size;
    uint32_t partitions;
} registered_update;
const registered_seal *seal_by_number(uint64_t number);
const registered_seal *seal_by_name(const char *name);
/* The registered proof of a size and version; NULL where none is registered (4KiB, 16KiB, 32KiB). */
const registered_seal *seal_find(uint64_t sector_size, porep_version version);
const registered_post *post_by_number(uint64_t number);
const registered_post *post_by_name(const char *name);
const registered_update *update_by_number(uint64_t number);
const registered_update *update_by_name(const char *name);
/* "2KiB", "2k", "32GiB", "32g", or a number of bytes; 0 if unknown. */
uint64_t sector_size_parse(const char *text);
const char *sector_size_name(uint64_t bytes); /* "32GiB" */
#endif
