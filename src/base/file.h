/* Files: read-only maps that survive truncation checks, and writers that appear under the final name only
 * when complete (temporary name, fsync, rename). */
#ifndef BASE_FILE_H
#define BASE_FILE_H
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct file_map {
    const uint8_t *data;
    size_t size;
    int fd;
    uint64_t device, inode, mtime_ns; /* identity at open, for file_map_changed */
} file_map;

cuzk_status file_map_open(file_map *out, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
void file_map_close(file_map *m); /* idempotent on a zeroed struct */
/* True if the file behind the open descriptor shrank or was written to since the map was made. */
int file_map_changed(const file_map *m);
/* Advice for a range: will be read soon in order / is not needed for now. */
void file_map_willneed(const file_map *m, size_t offset, size_t bytes);
void file_map_dontneed(const file_map *m, size_t offset, size_t bytes);

/* A device or a pipe is written to as it is; only a file has a temporary name. */
typedef struct file_writer {
    int fd;
    char *path, *temporary;
    uint8_t *buffer;
    size_t used;
    uint64_t written;
    int failed; /* errno of the first failure */
} file_writer;

cuzk_status file_writer_open(file_writer *w, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
/* Buffered; a failure is remembered and reported by commit. */
void file_write(file_writer *w, const void *data, size_t bytes);
/* Overwrites bytes already written (a header filled in last). */
void file_write_at(file_writer *w, uint64_t offset, const void *data, size_t bytes);
/* Flushes, syncs, renames. On failure nothing is left under either name. The writer is closed either way. */
cuzk_status file_writer_commit(file_writer *w, cuzk_error *err) CUZK_MUST_CHECK;
void file_writer_abort(file_writer *w); /* removes the temporary file; idempotent */

/* Whole small file into memory, at most limit bytes; data ends in an extra 0 byte; mem_free. */
cuzk_status file_read(uint8_t **data, size_t *size, const char *path, size_t limit,
                      cuzk_error *err) CUZK_MUST_CHECK;
/* Writes a whole file by temporary name and rename. */
cuzk_status file_save(const char *path, const void *data, size_t size, cuzk_error *err) CUZK_MUST_CHECK;
/* Whether a file can be made there: a failure that is found before the work that fills it. */
cuzk_status file_check_place(const char *path, cuzk_error *err) CUZK_MUST_CHECK;
int file_exists(const char *path);
cuzk_status file_make_dirs(const char *path, cuzk_error *err) CUZK_MUST_CHECK;
#endif
