/* The processor's features, read once. Code for an instruction set is reached only through tests of this
 * table. */
#ifndef BASE_CPU_H
#define BASE_CPU_H
typedef struct cpu_features {
    int adx, bmi2, avx2, avx512, ifma, sha_ni; /* avx512: F, BW, DQ, VL and the system saves the registers */
    char name[64];
    unsigned l1d, l2, l3; /* bytes; 0 unknown */
} cpu_features;
typedef enum cpu_form {
    CPU_ALL,     /* what the processor has */
    CPU_SCALAR,  /* the fastest code without vectors */
    CPU_PORTABLE /* no special form at all */
} cpu_form;
/* CUZK_CPU in the environment, "scalar" or "portable", chooses a form at start. */
const cpu_features *cpu_get(void);
/* For tests and benchmarks. Not thread-safe. */
void cpu_force(cpu_form form);
#endif
