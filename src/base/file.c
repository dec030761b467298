#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_BUFFER ((size_t)1 << 20)

static cuzk_status open_error(cuzk_error *err, const char *what, const char *path)
{
    int e = errno;
    return cuzk_error_set(err, e == ENOENT || e == ENOTDIR ? CUZK_NOT_FOUND : CUZK_IO_ERROR,
                          "cannot %s %s: %s", what, path, strerror(e));
}

static uint64_t stat_mtime(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

cuzk_status file_map_open(file_map *out, const char *path, cuzk_error *err)
{
    memset(out, 0, sizeof(*out));
    out->fd = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return open_error(err, "open", path);
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return cuzk_error_set(err, CUZK_IO_ERROR, "%s is not a regular file", path);
    }
    void *data = NULL;
    if (st.st_size > 0) {
        data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED) {
            cuzk_status s = open_error(err, "map", path);
            close(fd);
            return s;
        }
    }
    *out = (file_map){data, (size_t)st.st_size, fd, st.st_dev, st.st_ino, stat_mtime(&st)};
    return CUZK_OK;
}

void file_map_close(file_map *m)
{
    if (m->data)
        munmap((void *)(uintptr_t)m->data, m->size);
    if (m->data || m->fd > 0)
        close(m->fd);
    memset(m, 0, sizeof(*m));
    m->fd = -1;
}

int file_map_changed(const file_map *m)
{
    struct stat st;
    if (fstat(m->fd, &st) < 0)
        return 1;
    return (uint64_t)st.st_size != m->size || stat_mtime(&st) != m->mtime_ns;
}

static void advise(const file_map *m, size_t offset, size_t bytes, int advice)
{
    if (!m->data || offset >= m->size)
        return;
    if (bytes > m->size - offset)
        bytes = m->size - offset;
    size_t page = 4096, start = offset / page * page;
    madvise((void *)(uintptr_t)(m->data + start), offset + bytes - start, advice);
}

void file_map_willneed(const file_map *m, size_t offset, size_t bytes)
{
    advise(m, offset, bytes, MADV_WILLNEED);
}
void file_map_dontneed(const file_map *m, size_t offset, size_t bytes)
{
    advise(m, offset, bytes, MADV_DONTNEED);
}

/* Another thread may be writing the same file, and a process that died may have left its temporary one. */
static void open_temporary(file_writer *w, size_t size)
{
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(w->temporary, size, "%s.tmp-%ld-%u", w->path, (long)getpid(), i);
        w->fd = open(w->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (w->fd >= 0 || errno != EEXIST)
            return;
    }
}

cuzk_status file_writer_open(file_writer *w, const char *path, cuzk_error *err)
{
    memset(w, 0, sizeof(*w));
    w->fd = -1;
    size_t n = strlen(path) + 48;
    w->path = strdup(path);
    w->temporary = mem_alloc(n);
    w->buffer = mem_alloc(WRITE_BUFFER);
    if (!w->path || !w->temporary || !w->buffer) {
        file_writer_abort(w);
        return mem_error(err, WRITE_BUFFER, "a file's buffer");
    }
    struct stat st;
    int stream = stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
    if (stream) { /* /dev/null, a pipe: nothing to put in its place */
        w->temporary[0] = 0;
        w->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        open_temporary(w, n);
    }
    if (w->fd < 0) {
        cuzk_status s = open_error(err, stream ? "open" : "create", stream ? path : w->temporary);
        w->temporary[0] = 0; /* not ours to remove */
        file_writer_abort(w);
        return s;
    }
    return CUZK_OK;
}

static void write_out(file_writer *w, const uint8_t *data, size_t bytes)
{
    while (bytes && !w->failed) {
        ssize_t k = write(w->fd, data, bytes);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            w->failed = k < 0 ? errno : EIO;
            return;
        }
        data += k;
        bytes -= (size_t)k;
    }
}

void file_write(file_writer *w, const void *data, size_t bytes)
{
    const uint8_t *d = data;
    w->written += bytes;
    if (w->failed)
        return;
    if (bytes >= WRITE_BUFFER - w->used) {
        write_out(w, w->buffer, w->used);
        w->used = 0;
        if (bytes >= WRITE_BUFFER) {
            write_out(w, d, bytes);
            return;
        }
    }
    memcpy(w->buffer + w->used, d, bytes);
    w->used += bytes;
}

void file_write_at(file_writer *w, uint64_t offset, const void *data, size_t bytes)
{
    write_out(w, w->buffer, w->used);
    w->used = 0;
    const uint8_t *d = data;
    while (bytes && !w->failed) {
        ssize_t k = pwrite(w->fd, d, bytes, (off_t)offset);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            w->failed = k < 0 ? errno : EIO;
            return;
        }
        d += k;
        offset += (uint64_t)k;
        bytes -= (size_t)k;
    }
}

/* The rename itself must survive a crash, so the directory is synced as well. */
static void sync_directory(const char *path)
{
    char dir[4096];
    snprintf(dir, sizeof(dir), "%s", path);
    char *slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = 0;
    else
        strcpy(dir, ".");
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

cuzk_status file_writer_commit(file_writer *w, cuzk_error *err)
{
    cuzk_status s = CUZK_OK;
    int stream = !w->temporary[0];
    write_out(w, w->buffer, w->used);
    if (!stream && !w->failed && fsync(w->fd) < 0)
        w->failed = errno;
    if (close(w->fd) < 0 && !w->failed)
        w->failed = errno;
    w->fd = -1;
    if (!stream && !w->failed && rename(w->temporary, w->path) < 0)
        w->failed = errno;
    if (w->failed)
        s = cuzk_error_set(err, CUZK_IO_ERROR, "cannot write %s: %s", w->path, strerror(w->failed));
    else if (!stream)
        sync_directory(w->path);
    if (!w->failed)
        w->temporary[0] = 0; /* it has its final name */
    file_writer_abort(w);
    return s;
}

void file_writer_abort(file_writer *w)
{
    if (w->fd >= 0 && w->buffer)
        close(w->fd);
    if (w->temporary && w->temporary[0])
        unlink(w->temporary);
    free(w->path);
    mem_free(w->temporary);
    mem_free(w->buffer);
    memset(w, 0, sizeof(*w));
    w->fd = -1;
}

cuzk_status file_read(uint8_t **data, size_t *size, const char *path, size_t limit, cuzk_error *err)
{
    *data = NULL;
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return open_error(err, "open", path);
    struct stat st;
    cuzk_status s = CUZK_OK;
    size_t cap = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 65536;
    if (cap > limit)
        cap = limit;
    uint8_t *buffer = mem_alloc(cap + 1);
    size_t used = 0;
    for (;;) {
        if (!buffer) {
            s = mem_error(err, cap, "a file's content");
            goto exit;
        }
        ssize_t k = read(fd, buffer + used, cap + 1 - used);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            s = open_error(err, "read", path);
            goto exit;
        }
        if (k == 0)
            break;
        used += (size_t)k;
        if (used <= cap)
            continue;
        if (cap >= limit) {
            s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s is larger than the %zu bytes that are allowed", path,
                               limit);
            goto exit;
        }
        cap = cap * 2 < limit ? cap * 2 : limit;
        uint8_t *larger = mem_realloc(buffer, cap + 1);
        if (!larger)
            mem_free(buffer);
        buffer = larger;
    }
    buffer[used] = 0;
    *data = buffer;
    *size = used;
    buffer = NULL;
exit:
    mem_free(buffer);
    close(fd);
    return s;
}

cuzk_status file_save(const char *path, const void *data, size_t size, cuzk_error *err)
{
    file_writer w;
    cuzk_status s = file_writer_open(&w, path, err);
    if (s)
        return s;
    file_write(&w, data, size);
    return file_writer_commit(&w, err);
}

cuzk_status file_check_place(const char *path, cuzk_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s is a folder; a file's name is needed", path);
    file_writer w;
    cuzk_status s = file_writer_open(&w, path, err);
    if (!s)
        file_writer_abort(&w);
    return s;
}

int file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

cuzk_status file_make_dirs(const char *path, cuzk_error *err)
{
    char part[4096];
    size_t n = strlen(path);
    if (n >= sizeof(part))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "the path is longer than %zu bytes",
                              sizeof(part) - 1);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != 0)
            continue;
        char kept = part[i];
        part[i] = 0;
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return open_error(err, "create the folder", part);
        part[i] = kept;
    }
    return CUZK_OK;
}
