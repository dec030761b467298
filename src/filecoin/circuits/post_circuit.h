/* What the rows and the witness of PoSt share. Private to src/filecoin/circuits. */
#ifndef FILECOIN_CIRCUITS_POST_CIRCUIT_H
#define FILECOIN_CIRCUITS_POST_CIRCUIT_H
#include "filecoin/post.h"

/* The circuit's sectors, and the challenges of each. */
static inline uint32_t post_bodies(const circuit_info *info)
{
    return info->kind == CIRCUIT_WINNING ? info->challenges : info->sectors;
}
static inline uint32_t post_body_challenges(const circuit_info *info)
{
    return info->kind == CIRCUIT_WINNING ? 1 : info->challenges;
}
#endif
