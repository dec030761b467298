/* The processor's features, read once. Code for an instruction set is reached only through tests of this
 * table. */
#ifndef BASE_CPU_H
#define BASE_CPU_H
typedef struct cpu_features {
    int adx, bmi2, avx2, avx512, ifma, sha_ni; /* avx512: F, BW, DQ, VL and the system saves the registers */
    char name[64];
    unsigned l1d, l2, l3; /* bytes; 0 unknown */
} cpu_features;
/* CUZK_CPU in the environment: portable (or cpu_force_portable) switches every special form off, scalar the
 * vector forms only. */
const cpu_features *cpu_get(void);
/* For tests and benchmarks: 1 forces the scalar forms, 0 returns to what the processor has. Not thread-safe.
 */
void cpu_force_portable(int on);
#endif
