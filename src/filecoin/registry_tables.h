/* The tables behind registry.h; registry_tables.c is generated. Private to src/filecoin. */
#ifndef FILECOIN_REGISTRY_TABLES_H
#define FILECOIN_REGISTRY_TABLES_H
#include "filecoin/registry.h"

extern const circuit_info circuit_table[];
extern const size_t circuit_table_count;
extern const published_file published_table[];
extern const size_t published_table_count;
extern const registered_seal seal_table[];
extern const size_t seal_table_count;
extern const registered_post post_table[];
extern const size_t post_table_count;
extern const registered_update update_table[];
extern const size_t update_table_count;
#endif
