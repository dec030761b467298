/* Are the parameter files the published ones? The verifying key inside is compared when a file is opened, so
 * that no proof is ever checked against a foreign key; the whole file, tens of GiB, is read by a thread in
 * the background. What it finds holds for the file as it stands: by device, inode, time and size. */
#include "base/encode.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)4 << 20)

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int same_file(const digest_verdict *v, const file_map *m)
{
    return v->device == m->device && v->inode == m->inode && v->mtime_ns == m->mtime_ns && v->size == m->size;
}

const digest_verdict *digest_known_locked(engine *e, const params *p)
{
    for (const digest_verdict *v = e->verdicts; v; v = v->next)
        if (same_file(v, &p->map))
            return v;
    return NULL;
}

static void say_mismatch(char *out, size_t size, const char *path, const uint8_t have[16],
                         const uint8_t want[16])
{
    char a[33], b[33];
    hex_encode(a, have, 16);
    hex_encode(b, want, 16);
    snprintf(out, size,
             "%.180s is not the published file: its digest is %s, published is %s; fetch it again, or set "
             "srs.check_digests = false",
             path, a, b);
}

cuzk_status digest_check_key(const params *p, const circuit_info *info, cuzk_error *err)
{
    char name[256], text[400];
    snprintf(name, sizeof(name), "%s.vk", info->file);
    const published_file *f = published_file_find(name);
    if (!f)
        return CUZK_OK;
    size_t n = vk_bytes(&p->vk);
    uint8_t *bytes = mem_alloc(n), digest[64];
    if (!bytes)
        return mem_error(err, n, "a verifying key");
    vk_encode(bytes, &p->vk);
    blake2b b;
    blake2b_init(&b, 64, NULL, 0);
    blake2b_update(&b, bytes, n);
    blake2b_final(&b, digest);
    mem_free(bytes);
    if (!memcmp(digest, f->digest, 16))
        return CUZK_OK;
    say_mismatch(text, sizeof(text), p->path, digest, f->digest);
    return cuzk_error_set(err, CUZK_BAD_INPUT, "the verifying key inside %s", text);
}

/* ---- the background ---- */

static cuzk_status digest_file(engine *e, const file_map *m, const char *path, uint8_t out[64],
                               cuzk_error *err)
{
    uint8_t *piece = mem_alloc(PIECE);
    if (!piece)
        return mem_error(err, PIECE, "reading a parameter file");
    blake2b b;
    blake2b_init(&b, 64, NULL, 0);
    cuzk_status s = CUZK_OK;
    for (uint64_t at = 0; at < m->size && !s;) {
        ssize_t n = pread(m->fd, piece, PIECE, (off_t)at);
        if (n <= 0)
            s = cuzk_error_set(err, CUZK_IO_ERROR, "%s cannot be read: %s", path,
                               n ? strerror(errno) : "cut short");
        else
            blake2b_update(&b, piece, (size_t)n);
        at += n > 0 ? (uint64_t)n : 0;
        if (!s && cancel_check(&e->digest_stop))
            s = cuzk_error_set(err, CUZK_CANCELLED, "stopped");
    }
    blake2b_final(&b, out);
    mem_free(piece);
    return s;
}

/* A loaded, published key whose file nobody has read yet; copies its path. */
static const circuit_info *next_unknown_locked(engine *e, char path[4096], const published_file **published)
{
    for (const circuit_key *k = e->keys; k; k = k->next) {
        if (k->state != KEY_READY || k->is_test || digest_known_locked(e, k->srs))
            continue;
        *published = published_file_find(base_name(k->srs->path));
        if (!*published)
            continue;
        snprintf(path, 4096, "%s", k->srs->path);
        return k->info;
    }
    return NULL;
}

static void fail_circuit(engine *e, const circuit_info *info, const char *sentence)
{
    pthread_mutex_lock(&e->lock);
    for (circuit_key *k = e->keys; k; k = k->next) {
        if (k->info != info || k->state != KEY_READY)
            continue;
        k->state = KEY_FAILED;
        k->used_ns = clock_ns();
        cuzk_error_set(&k->error, CUZK_BAD_INPUT, "%s", sentence);
    }
    for (job *j = e->jobs; j;) {
        if (j->circuit == info && !job_ended(j) && !j->ending) {
            job_end(e, j, JOB_FAILED, sentence);
            j = e->jobs; /* the lock was released */
        } else {
            j = j->next;
        }
    }
    pthread_mutex_unlock(&e->lock);
}

void digest_judge(engine *e, const circuit_info *info, const char *path, const published_file *f)
{
    file_map m;
    cuzk_error why = {0};
    uint8_t digest[64];
    digest_verdict *v = mem_calloc(1, sizeof(*v));
    cuzk_status s = v ? file_map_open(&m, path, &why) : mem_error(&why, sizeof(*v), "a digest");
    if (s) {
        mem_free(v);
        log_write(LOG_WARN, "srs", "the digest of %s was not checked: %s", path, why.message);
        return;
    }
    *v = (digest_verdict){m.device, m.inode, m.mtime_ns, m.size, 0, "", NULL};
    uint64_t start = clock_ns();
    s = digest_file(e, &m, path, digest, &why);
    file_map_close(&m);
    if (s == CUZK_CANCELLED) {
        mem_free(v);
        return;
    }
    v->bad = s || memcmp(digest, f->digest, 16);
    if (s)
        snprintf(v->sentence, sizeof(v->sentence), "%.390s", why.message);
    else if (v->bad)
        say_mismatch(v->sentence, sizeof(v->sentence), path, digest, f->digest);
    int bad = v->bad;
    char sentence[400];
    memcpy(sentence, v->sentence, sizeof(sentence));
    pthread_mutex_lock(&e->lock);
    v->next = e->verdicts;
    e->verdicts = v;
    pthread_mutex_unlock(&e->lock);
    if (bad) {
        log_write(LOG_ERROR, "srs", "%s", sentence);
        fail_circuit(e, info, sentence);
    } else {
        log_write(LOG_INFO, "srs", "%s is the published file (%.1f s)", path,
                  (double)(clock_ns() - start) / 1e9);
    }
}

void *digest_main(void *engine_)
{
    engine *e = engine_;
    char path[4096];
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        const published_file *f = NULL;
        const circuit_info *info = next_unknown_locked(e, path, &f);
        if (!info) {
            pthread_cond_wait(&e->changed, &e->lock);
            continue;
        }
        pthread_mutex_unlock(&e->lock);
        digest_judge(e, info, path, f);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
