/* The forms of each sum; msm.c chooses. Same contracts as msm.h. */
#ifndef MSM_MSM_PRIVATE_H
#define MSM_MSM_PRIVATE_H
#include "msm/msm.h"

cuzk_status msm_g1_portable(g1 *out, const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                            pool *p, const cancel_token *cancel, cuzk_error *err);
cuzk_status msm_g2_portable(g2 *out, const g2_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                            pool *p, const cancel_token *cancel, cuzk_error *err);
cuzk_status msm_g1_subset_portable(g1 *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                                   const cancel_token *cancel, cuzk_error *err);
cuzk_status msm_g2_subset_portable(g2 *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                                   const cancel_token *cancel, cuzk_error *err);
#define MSM_MAX ((size_t)1 << 31) /* terms of one sum: positions take 31 bits and a sign */

/* Windows for n scalars taken in so many chunks. */
unsigned msm_windows(size_t n, size_t chunks);
/* CUZK_OK, or the status of a token that asks to stop, with its sentence. */
cuzk_status msm_stopped(const cancel_token *cancel, cuzk_error *err);
cuzk_status msm_g1_ifma(g1 *out, const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                        pool *p, const cancel_token *cancel, cuzk_error *err);
cuzk_status msm_g2_ifma(g2 *out, const g2_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                        pool *p, const cancel_token *cancel, cuzk_error *err);
cuzk_status msm_g1_subset_ifma(g1 *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                               const cancel_token *cancel, cuzk_error *err);
cuzk_status msm_g2_subset_ifma(g2 *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                               const cancel_token *cancel, cuzk_error *err);
cuzk_status g1_fixed_base_ifma(g1_affine *r, const g1_affine *base, const fr *k, size_t n, pool *p,
                               cuzk_error *err);
cuzk_status g2_fixed_base_ifma(g2_affine *r, const g2_affine *base, const fr *k, size_t n, pool *p,
                               cuzk_error *err);
/* As msm_g1_ifma with a number of windows (hexagon.h), a chunk (terms at a time) and lanes (8 to 2560, a
 * multiple of 8) other than those it would choose; 0 leaves the choice. For tests and measurements. */
typedef struct msm_tuning {
    unsigned windows;
    size_t chunk, lanes;
} msm_tuning;
cuzk_status msm_g1_ifma_tuned(g1 *out, const g1_affine *bases, const scalar *k, size_t n,
                              const msm_tuning *tuning, pool *p, cuzk_error *err);

/* What the vector form of the sums in G1 consists of. It is there twice: see field/fp52.h. */
typedef struct g1_form {
    cuzk_status (*sum)(g1 *out, const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                       const msm_tuning *tuning, pool *p, const cancel_token *cancel, cuzk_error *err);
    cuzk_status (*subset)(g1 *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err);
    cuzk_status (*fixed_base)(g1_affine *r, const g1_affine *base, const fr *k, size_t n, pool *p,
                              cuzk_error *err);
} g1_form;
extern const g1_form G1_BY_ROWS, G1_BY_HALVES;
/* The one that is quicker here, found at the first call; for processors with AVX-512 IFMA. */
const g1_form *g1_form_in_use(void);
void g1_form_force(const g1_form *form); /* for tests; not thread-safe */
#endif
