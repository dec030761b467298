/* cuzk doctor: parameters, the folder of compiled circuits, the store of accepted jobs. */
#include "api/circuits.h"
#include "cli/doctor.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#define C1_BYTES 53000000.0 /* a C1 document of 32 GiB: the largest input, and the usual one */

static unsigned user(void)
{
    return (unsigned)getuid();
}

void doctor_look_at_parameters(doctor *d)
{
    const char *dir = d->plan.params;
    if (access(dir, R_OK | X_OK)) {
        doctor_say(d, PROBLEM, "parameters",
                   "the folder %s cannot be read: %s; fetch the files (curio fetch-params) or set "
                   "srs.param_cache",
                   dir, strerror(errno));
        return;
    }
    unsigned found = 0, tests = 0;
    for (size_t i = 0; i < circuit_count(); i++) {
        char path[4096];
        int is_test;
        cuzk_error e = {0};
        params *p;
        if (params_find(path, sizeof(path), dir, circuit_at(i), ".params", 1, &is_test, &e))
            continue;
        found += !is_test;
        tests += (unsigned)is_test;
        if (access(path, R_OK))
            doctor_say(d, PROBLEM, "parameters", "%s cannot be read by user %u: %s; give the user permission",
                       path, user(), strerror(errno));
        else if (params_open(&p, path, &e))
            doctor_say(d, PROBLEM, "parameters", "%s: fetch the file again", e.message);
        else
            params_close(p);
    }
    if (found)
        doctor_say(d, FINE, "parameters",
                   "%s holds %u registered parameter files; cuzk params FILE compares one with its published "
                   "digest",
                   dir, found);
    else if (tests && d->plan.allow_test)
        doctor_say(d, NOTE, "parameters",
                   "%s holds %u test SRS, whose secrets are public: proofs with them prove nothing to anyone",
                   dir, tests);
    else
        doctor_say(
            d, PROBLEM, "parameters",
            "%s holds no registered parameter file (and %u test SRS); fetch them (curio fetch-params) or "
            "set srs.param_cache",
            dir, tests);
}

/* ---- folders that are written ---- */

/* The folder itself, or the nearest one above it that exists: there it would be made. */
static int find_existing(char *out, size_t size, const char *dir)
{
    struct stat st;
    if (snprintf(out, size, "%s", dir) >= (int)size)
        return ENAMETOOLONG;
    while (stat(out, &st)) {
        if (errno != ENOENT)
            return errno;
        char *slash = strrchr(out, '/');
        if (!slash)
            snprintf(out, size, ".");
        else
            slash[slash == out] = 0;
    }
    return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
}

/* Says so and returns false where the folder can neither be written nor made. *at: where its files lie. */
static int can_be_written(doctor *d, const char *subject, const char *dir, char *at, size_t size)
{
    int why = find_existing(at, size, dir);
    if (!why && access(at, W_OK | X_OK))
        why = errno;
    if (!why)
        return 1;
    if (strcmp(at, dir) != 0)
        doctor_say(d, PROBLEM, subject,
                   "%s cannot be made by user %u: %s: %s; make it, or choose another folder or give the user "
                   "permission",
                   dir, user(), at, strerror(why));
    else
        doctor_say(d, PROBLEM, subject,
                   "%s cannot be written by user %u: %s; choose another folder or give the user permission",
                   dir, user(), strerror(why));
    return 0;
}

static double gib_left(const char *dir, const char *pretend)
{
    struct statvfs v;
    double left = statvfs(dir, &v) ? 1e6 : (double)v.f_bavail * (double)v.f_frsize / DOCTOR_GIB;
    return doctor_pretended(pretend, left);
}

void doctor_look_at_circuits(doctor *d)
{
    char at[4096];
    const char *dir = d->plan.circuits;
    if (!can_be_written(d, "circuits", dir, at, sizeof(at)))
        return;
    double left = gib_left(at, "disk");
    if (left < 2)
        doctor_say(d, PROBLEM, "circuits",
                   "%s has %.1f GiB left; compiled circuits need up to 2 GiB: make room or set "
                   "srs.circuit_cache",
                   dir, left);
    else
        doctor_say(d, FINE, "circuits", "%s can be written", dir);
}

/* ---- the store ---- */

typedef enum place { LOCAL, VOLATILE, REMOTE, UNKNOWN_PLACE } place;

/* By the magic numbers of statfs(2). */
static place kind_of_file_system(const char *dir, const char **name)
{
    static const struct {
        unsigned long magic;
        place where;
        const char *name;
    } KNOWN[] = {
        {0x6969, REMOTE, "NFS"},         {0x517b, REMOTE, "SMB"},
        {0xfe534d42, REMOTE, "SMB"},     {0xff534d42, REMOTE, "CIFS"},
        {0x01021997, REMOTE, "9p"},      {0x00c36400, REMOTE, "Ceph"},
        {0x0bd00bd0, REMOTE, "Lustre"},  {0x47504653, REMOTE, "GPFS"},
        {0x5346414f, REMOTE, "AFS"},     {0x65735546, UNKNOWN_PLACE, "FUSE"},
        {0x01021994, VOLATILE, "tmpfs"}, {0x858458f6, VOLATILE, "ramfs"},
    };
    struct statfs s;
    unsigned long magic = statfs(dir, &s) ? 0 : (unsigned long)s.f_type & 0xffffffff;
    magic = (unsigned long)doctor_pretended("file_system", (double)magic);
    for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++) {
        *name = KNOWN[i].name;
        if (KNOWN[i].magic == magic)
            return KNOWN[i].where;
    }
    return LOCAL;
}

/* What is there already. Returns false where it cannot be used. */
static int look_at_database(doctor *d, const char *path)
{
    char head[16] = "";
    struct stat st;
    if (stat(path, &st))
        return 1; /* it will be made */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));
    int why = n < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (why || access(path, W_OK)) {
        doctor_say(d, PROBLEM, "store", "%s cannot be opened by user %u: %s; give it to the service's user",
                   path, user(), strerror(why ? why : errno));
        return 0;
    }
    if (n && memcmp(head, "SQLite format 3", 16) != 0) {
        doctor_say(d, PROBLEM, "store",
                   "%s is no SQLite database: move it away or name another file in store.url", path);
        return 0;
    }
    return 1;
}

static void look_at_sqlite(doctor *d, const char *path)
{
    char dir[1024], at[4096];
    const char *name, *slash = strrchr(path, '/');
    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
    if (!*path) {
        doctor_say(d, PROBLEM, "store", "store.url: sqlite: needs a path: sqlite:/var/lib/cuzk/jobs.db");
        return;
    }
    if (!can_be_written(d, "store", dir, at, sizeof(at)) || !look_at_database(d, path))
        return;
    place where = kind_of_file_system(at, &name);
    double left = gib_left(at, "store_disk"), full = (double)d->plan.max_queued * C1_BYTES / DOCTOR_GIB;
    if (where == REMOTE)
        doctor_say(
            d, PROBLEM, "store",
            "%s is on a network file system (%s), where SQLite's locks and its shared memory do not hold: "
            "choose a local disk, or PostgreSQL for several daemons",
            dir, name);
    else if (where != LOCAL)
        doctor_say(d, NOTE, "store", "%s is on %s: %s", dir, name,
                   where == VOLATILE
                       ? "accepted jobs are lost when the machine starts again; choose a folder on a disk"
                       : "make sure that it is a local disk, not one across the network");
    if (left < 1)
        doctor_say(
            d, PROBLEM, "store",
            "%s has %.1f GiB left; every waiting PoRep of 32 GiB keeps 51 MiB there, and a full disk means "
            "that jobs are refused: make room",
            dir, left);
    else if (left < full)
        doctor_say(
            d, NOTE, "store",
            "%s has %.1f GiB left; a full queue (scheduler.max_queued) of %llu PoReps of 32 GiB takes %.1f "
            "GiB: make room or lower it",
            dir, left, (unsigned long long)d->plan.max_queued, full);
    if (where == LOCAL && left >= full)
        doctor_say(d, FINE, "store", "%s can be written, and lies on a local disk", dir);
}

void doctor_look_at_store(doctor *d)
{
    const char *url = d->plan.store;
    if (!strcmp(url, "sqlite::memory:"))
        doctor_say(
            d, NOTE, "store",
            "store.url is sqlite::memory:, so accepted jobs are lost when the daemon ends; set it to a file: "
            "sqlite:/var/lib/cuzk/jobs.db");
    else if (!strncmp(url, "sqlite:", 7))
        look_at_sqlite(d, url + 7);
#ifdef CUZK_HAVE_CLIENT
    else if (!strncmp(url, "postgres://", 11) || !strncmp(url, "postgresql://", 13))
        doctor_look_at_postgres(d);
#endif
    else
        doctor_say(
            d, PROBLEM, "store",
            "store.url must begin with sqlite: or postgres:// (sqlite:/path/jobs.db, sqlite::memory:)");
}
