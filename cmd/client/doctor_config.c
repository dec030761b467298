/* cuzk doctor: the daemon's configuration, its credentials, and a daemon or a database that may answer. */
#include "base/file.h"
#include "base/mem.h"
#include "cli/doctor.h"
#include "client/client.h"
#include "engine/config.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef CUZK_HAVE_PQ
#include <libpq-fe.h>
#endif

static void take_finding(void *ctx, int is_error, const char *sentence)
{
    doctor_say(ctx, is_error ? PROBLEM : NOTE, "configuration", "%s", sentence);
}

/* A file that the configuration names. What is secret should be readable by nobody else. */
static int look_at_file(doctor *d, const char *option, const char *path, int secret)
{
    struct stat st;
    if (access(path, R_OK) || stat(path, &st)) {
        doctor_say(d, PROBLEM, "credentials",
                   "%s: %s cannot be read by user %u: %s; correct the path or give the "
                   "service's user permission",
                   option, path, (unsigned)getuid(), strerror(errno));
        return 0;
    }
    if (secret && st.st_mode & S_IROTH)
        doctor_say(d, NOTE, "credentials", "%s: everyone on this machine can read %s: chmod o-r", option,
                   path);
    return 1;
}

static void look_at_token(doctor *d, const char *path)
{
    uint8_t *data;
    size_t size;
    cuzk_error e = {0};
    if (!look_at_file(d, "auth.token_file", path, 1))
        return;
    if (file_read(&data, &size, path, 65536, &e)) {
        doctor_say(d, PROBLEM, "credentials", "auth.token_file: %s", e.message);
        return;
    }
    if (strcspn((char *)data, "\r\n") < 16)
        doctor_say(
            d, PROBLEM, "credentials",
            "auth.token_file: %s must hold a token of at least 16 characters on one line: openssl rand -hex "
            "32",
            path);
    mem_wipe(data, size);
    mem_free(data);
}

static void look_at_credentials(doctor *d, const config *c)
{
    if (!*c->tls.cert != !*c->tls.key)
        doctor_say(d, PROBLEM, "credentials", "tls.cert and tls.key go together: set the other one too");
    else if (*c->tls.client_ca && !*c->tls.cert)
        doctor_say(d, PROBLEM, "credentials", "tls.client_ca needs tls.cert and tls.key beside it");
    if (*c->tls.cert)
        look_at_file(d, "tls.cert", c->tls.cert, 0);
    if (*c->tls.key)
        look_at_file(d, "tls.key", c->tls.key, 1);
    if (*c->tls.client_ca)
        look_at_file(d, "tls.client_ca", c->tls.client_ca, 0);
    if (*c->auth.token_file)
        look_at_token(d, c->auth.token_file);
}

static void take_over(doctor_plan *p, const config *c)
{
    if (*c->srs.param_cache)
        snprintf(p->params, sizeof(p->params), "%s", c->srs.param_cache);
    if (*c->srs.circuit_cache)
        snprintf(p->circuits, sizeof(p->circuits), "%s", c->srs.circuit_cache);
    snprintf(p->store, sizeof(p->store), "%s", c->store.url);
    snprintf(p->listen, sizeof(p->listen), "%s", c->daemon.listen);
    snprintf(p->status_listen, sizeof(p->status_listen), "%s", c->daemon.status_listen);
    snprintf(p->backend, sizeof(p->backend), "%s", c->gpus.backend);
    memcpy(p->device, c->gpus.device, sizeof(p->device));
    p->device_count = c->gpus.device_count;
    p->allow_test = c->srs.allow_test;
    p->memory_budget = c->memory.total_budget;
    p->max_queued = c->scheduler.max_queued;
    p->encrypted = *c->tls.cert != 0;
    p->guarded = *c->auth.token_file || *c->tls.client_ca;
}

void doctor_read_config(doctor *d, const char *path)
{
    static config c;
    cuzk_error e = {0};
    unsigned before = d->problems;
    config_defaults(&c);
    if (config_load(&c, path, 1, take_finding, d, &e)) {
        if (d->problems == before) /* it could not be read at all */
            doctor_say(d, PROBLEM, "configuration", "%s; correct the path or give the user permission",
                       e.message);
        else
            doctor_say(
                d, NOTE, "configuration",
                "the daemon does not start with %s before it is corrected (cuzk config check FILE); what "
                "follows looks at what could be read",
                path);
    } else {
        doctor_say(d, FINE, "configuration", "%s is valid", path);
    }
    take_over(&d->plan, &c);
    look_at_credentials(d, &c);
}

int doctor_daemon_answers(const char *address)
{
    client *c;
    uint8_t *reply;
    size_t size;
    cuzk_error e = {0};
    if (client_open(&c, address, NULL, NULL, NULL, NULL, &e))
        return 0;
    cuzk_status s = client_call(c, "GetStatus", NULL, 0, &reply, &size, 2000, &e);
    if (!s)
        mem_free(reply);
    client_close(c);
    return !s;
}

void doctor_look_at_postgres(doctor *d)
{
#ifdef CUZK_HAVE_PQ
    static const char *const KEYS[] = {"dbname", "connect_timeout", NULL};
    const char *const values[] = {d->plan.store, "5", NULL};
    PGconn *db = PQconnectdbParams(KEYS, values, 1);
    if (PQstatus(db) == CONNECTION_OK) {
        doctor_say(d, FINE, "store", "the database %s on %s answers", PQdb(db), PQhost(db));
    } else {
        char why[512];
        snprintf(why, sizeof(why), "%s", PQerrorMessage(db));
        why[strcspn(why, "\n")] = 0;
        doctor_say(
            d, PROBLEM, "store",
            "store.url: the database does not answer: %s; correct the address, start it, or give the user "
            "access",
            why);
    }
    PQfinish(db);
#else
    doctor_say(
        d, PROBLEM, "store",
        "store.url names PostgreSQL, which this build leaves out: build it with libpq, or use sqlite:");
#endif
}
