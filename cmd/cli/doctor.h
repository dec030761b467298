/* cuzk doctor: what its parts share. Each part looks at one thing and says what it finds; none changes
 * anything. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H
#include "cli/cli.h"

#define DOCTOR_GIB 1073741824.0

typedef enum verdict { FINE, NOTE, PROBLEM } verdict;

/* What the daemon is going to use: from the command line, its configuration, or the defaults, in that order.
 */
typedef struct doctor_plan {
    char params[4096], circuits[4096], store[1024];
    char listen[256], status_listen[256]; /* status_listen "": nowhere */
    int allow_test;                       /* test SRS will do */
    char backend[16];                     /* auto, cpu, cuda */
    uint64_t device[64];                  /* ordinals asked for; none: all */
    size_t device_count;
    uint64_t memory_budget; /* 0: what there is */
    uint64_t max_queued;
    int encrypted, guarded; /* the door: TLS; a token or clients' certificates */
} doctor_plan;

typedef struct doctor {
    const cli_args *a;
    json_out j;
    unsigned problems;
    doctor_plan plan;
} doctor;

/* One finding: a sentence, and what to do where there is something to do. */
void doctor_say(doctor *d, verdict v, const char *subject, const char *format, ...) CUZK_PRINTF(4, 5);
/* For tests, which cannot change the machine: CUZK_DOCTOR_PRETEND="memory=3,disk=0.5,ifma=0" puts these
 * values in the place of what was found. Memory and disk are in GiB. Nothing but the doctor looks at it. */
double doctor_pretended(const char *what, double found);

void doctor_look_at_processor(doctor *d);
void doctor_look_at_memory(doctor *d);
void doctor_look_at_devices(doctor *d);
void doctor_look_at_parameters(doctor *d);
void doctor_look_at_circuits(doctor *d);
void doctor_look_at_store(doctor *d);
void doctor_look_at_doors(doctor *d);

/* With the daemon only. Reads the configuration into the plan, and says what is wrong with it. */
void doctor_read_config(doctor *d, const char *path);
/* Whether a daemon answers at this address, without TLS or token. */
int doctor_daemon_answers(const char *address);
void doctor_look_at_postgres(doctor *d);
#endif
