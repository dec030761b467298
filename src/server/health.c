/* grpc.health.v1: Check answers at once; Watch keeps a stream that is told of every change.
 *
 * One thread looks at the engine twice a second while somebody watches, and sends what changed. A watcher is
 * in the list from its call until its client goes away or the server stops; the send under way keeps it
 * alive. */
#include "base/log.h"
#include "base/mem.h"
#include "health.pb-c.h"
#include "server/rpc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_EVERY_MS 500
#define SERVICE       "cuzk.v1.ProvingEngine"
#define STATUS(name)  GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__##name

typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus serving;

typedef struct watcher {
    struct watcher *next;
    struct health *health;
    rpc_call *call;
    int told;             /* the status sent last, -1: none yet */
    int known;            /* the service it asks for is ours */
    int sending, leaving; /* leaving: out of the list, freed when the send has ended */
} watcher;

struct health {
    server *server;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    watcher *list;
    int started, stopping;
};

/* Serving: jobs are taken, and a device that is not set aside is there to prove them. */
static serving look(server *s)
{
    engine_status e;
    cuzk_error err = {0};
    if (engine_get_status(s->engine, &e, &err))
        return STATUS(NOT_SERVING);
    int devices = 0, accepting = e.accepting;
    for (size_t i = 0; i < e.device_count; i++)
        devices += !e.devices[i].quarantined;
    engine_status_clear(&e);
    return accepting && devices ? STATUS(SERVING) : STATUS(NOT_SERVING);
}

/* 1 ours, 0 unknown, -1 not a request. */
static int service_known(const uint8_t *data, size_t size)
{
    Grpc__Health__V1__HealthCheckRequest *m =
        grpc__health__v1__health_check_request__unpack(NULL, size, data);
    if (!m)
        return -1;
    int known = !*m->service || !strcmp(m->service, SERVICE);
    grpc__health__v1__health_check_request__free_unpacked(m, NULL);
    return known;
}

void health_handle_check(rpc_call *c, const uint8_t *data, size_t size)
{
    int known = service_known(data, size);
    if (known < 0) {
        rpc_fail(c, GRPC_STATUS_INVALID_ARGUMENT, "the request is not a HealthCheckRequest");
    } else if (!known) {
        rpc_fail(c, GRPC_STATUS_NOT_FOUND, "the services here are \"\" and \"" SERVICE "\"");
    } else {
        Grpc__Health__V1__HealthCheckResponse r = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
        r.status = look(c->server);
        rpc_send_message(c, &r.base);
    }
}

/* ---- watching ---- */

static void watcher_free(watcher *w)
{
    rpc_unref(w->call);
    mem_free(w);
}

static void on_told(rpc_call *c, void *ctx, int ok)
{
    (void)c;
    (void)ok; /* not ok: the thread finds the client gone */
    watcher *w = ctx;
    pthread_mutex_lock(&w->health->lock);
    w->sending = 0;
    int leaving = w->leaving;
    pthread_mutex_unlock(&w->health->lock);
    if (leaving)
        watcher_free(w);
}

/* Takes *at out of the list; the lock is held. Returns it where the caller is to free it after unlocking. */
static watcher *leave(watcher **at)
{
    watcher *w = *at;
    *at = w->next;
    w->leaving = 1;
    return w->sending ? NULL : w;
}

static void tell(watcher *w, serving status)
{
    Grpc__Health__V1__HealthCheckResponse r = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    uint8_t bytes[16];
    r.status = status;
    rpc_send(w->call, bytes, grpc__health__v1__health_check_response__pack(&r, bytes), on_told, w);
}

/* One watcher that is to be told or freed, or NULL when all is done; *ends says that it leaves. */
static watcher *next_due(struct health *h, serving now, int *ends)
{
    watcher *due = NULL;
    pthread_mutex_lock(&h->lock);
    for (watcher **at = &h->list; *at && !due;) {
        watcher *w = *at;
        serving status = w->known ? now : STATUS(SERVICE_UNKNOWN);
        *ends = h->stopping || atomic_load(&w->call->gone);
        if (*ends) {
            rpc_fail(w->call, GRPC_STATUS_UNAVAILABLE, "the daemon is stopping");
            due = leave(at);
            continue;
        }
        if (!w->sending && w->told != (int)status) {
            w->sending = 1;
            w->told = (int)status;
            due = w;
        }
        at = &w->next;
    }
    pthread_mutex_unlock(&h->lock);
    return due;
}

static void tell_all(struct health *h)
{
    serving now = look(h->server);
    int ends;
    for (watcher *w; (w = next_due(h, now, &ends));) {
        if (ends)
            watcher_free(w);
        else
            tell(w, w->told == STATUS(SERVICE_UNKNOWN) ? STATUS(SERVICE_UNKNOWN) : now);
    }
}

static void *watch(void *arg)
{
    struct health *h = arg;
    pthread_mutex_lock(&h->lock);
    for (;;) {
        while (!h->list && !h->stopping)
            pthread_cond_wait(&h->changed, &h->lock);
        int stopping = h->stopping;
        pthread_mutex_unlock(&h->lock);
        tell_all(h);
        if (stopping)
            return NULL;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_EVERY_MS * 1000000l;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&h->lock);
        if (!h->stopping)
            pthread_cond_timedwait(&h->changed, &h->lock, &until);
    }
}

void health_handle_watch(rpc_call *c, const uint8_t *data, size_t size)
{
    int known = data ? service_known(data, size) : -1;
    if (known < 0) {
        rpc_fail(c, GRPC_STATUS_INVALID_ARGUMENT, "the request is not a HealthCheckRequest");
        return;
    }
    struct health *h = c->server->health;
    watcher *w = mem_calloc(1, sizeof(*w));
    if (!w) {
        rpc_fail(c, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    *w = (watcher){.health = h, .call = c, .told = -1, .known = known};
    pthread_mutex_lock(&h->lock);
    int late = h->stopping;
    if (!late) {
        rpc_ref(c);
        w->next = h->list;
        h->list = w;
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    if (late) {
        rpc_fail(c, GRPC_STATUS_UNAVAILABLE, "the daemon is stopping");
        mem_free(w);
    }
}

/* ---- life ---- */

cuzk_status health_create(server *s, cuzk_error *err)
{
    struct health *h = mem_calloc(1, sizeof(*h));
    if (!h)
        return mem_error(err, sizeof(*h), "the health service");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    h->server = s;
    s->health = h;
    return CUZK_OK;
}

cuzk_status health_start(server *s, cuzk_error *err)
{
    int rc = pthread_create(&s->health->thread, NULL, watch, s->health);
    if (rc)
        return cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot start a thread for health: %s", strerror(rc));
    s->health->started = 1;
    return CUZK_OK;
}

void health_stop(server *s)
{
    struct health *h = s->health;
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->stopping = 1;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
    if (h->started)
        pthread_join(h->thread, NULL);
    h->started = 0;
}

void health_free(server *s)
{
    if (!s->health)
        return;
    pthread_cond_destroy(&s->health->changed);
    pthread_mutex_destroy(&s->health->lock);
    mem_free(s->health);
    s->health = NULL;
}
