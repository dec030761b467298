/* A daemon of our own: its configuration with one option replaced, its start, its end, its memory. */
#include "base/clock.h"
#include "base/mem.h"
#include "bench_daemon/bench_daemon.h"
#include "engine/config.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_SECONDS 60
#define CONFIG_LIMIT  ((size_t)1 << 20)

extern char **environ;

uint64_t bench_process_rss(pid_t pid)
{
    char path[64];
    unsigned long long size, resident = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- configuration ---- */

static const config_option *find_option(const char *table, const char *key)
{
    for (size_t i = 0; i < config_option_count(); i++) {
        const config_option *o = config_option_at(i);
        if (!strcmp(o->table, table) && !strcmp(o->name, key))
            return o;
    }
    return NULL;
}

static int is_bare(const config_option *o, const char *value)
{
    return o->kind == OPTION_BOOL || o->kind == OPTION_U64 || o->kind == OPTION_LIST || *value == '"';
}

/* "[table]" on this line? */
static int opens_table(const char *line, const char *table, int *any)
{
    while (*line == ' ' || *line == '\t')
        line++;
    *any = *line == '[';
    size_t n = strlen(table);
    return *any && !strncmp(line + 1, table, n) && line[1 + n] == ']';
}

static int sets_key(const char *line, const char *key)
{
    while (*line == ' ' || *line == '\t')
        line++;
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0)
        return 0;
    for (line += n; *line == ' ' || *line == '\t'; line++)
        ;
    return *line == '=';
}

/* Copies the file line by line; the option's own line goes, a new one follows its table's heading. */
static cuzk_status write_config(const char *to, const char *from, const char *table, const char *key,
                                const char *value, cuzk_error *err)
{
    uint8_t *text = NULL;
    size_t size;
    cuzk_status s = from ? file_read(&text, &size, from, CONFIG_LIMIT, err) : CUZK_OK;
    if (s)
        return s;
    FILE *f = fopen(to, "we");
    if (!f) {
        mem_free(text);
        return cuzk_error_set(err, CUZK_IO_ERROR, "cannot write %s: %s", to, strerror(errno));
    }
    const config_option *o = table ? find_option(table, key) : NULL;
    const char *quote = o && is_bare(o, value) ? "" : "\"";
    int inside = 0, written = 0, any;
    char *rest = (char *)text;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        int here = table && opens_table(line, table, &any);
        if (table && any)
            inside = here;
        if (table && inside && sets_key(line, key))
            continue;
        fprintf(f, "%s\n", line);
        if (here && !written++)
            fprintf(f, "%s = %s%s%s\n", key, quote, value, quote);
    }
    if (table && !written)
        fprintf(f, "[%s]\n%s = %s%s%s\n", table, key, quote, value, quote);
    mem_free(text);
    if (fclose(f))
        return cuzk_error_set(err, CUZK_IO_ERROR, "cannot write %s: %s", to, strerror(errno));
    return CUZK_OK;
}

/* ---- the process ---- */

static void find_program(char *out, size_t size, const char *given)
{
    ssize_t n = given ? -1 : readlink("/proc/self/exe", out, size - 16);
    if (n > 0) {
        out[n] = 0;
        char *slash = strrchr(out, '/');
        strcpy(slash ? slash + 1 : out, "cuzk-daemon");
        if (access(out, X_OK) == 0)
            return;
    }
    snprintf(out, size, "%s", given ? given : "cuzk-daemon");
}

static cuzk_status spawn(bench_process *p, const char *program, cuzk_error *err)
{
    char path[4096];
    find_program(path, sizeof(path), program);
    char *argv[] = {path, "--config", p->config, "--listen", p->address, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, p->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int rc = posix_spawnp(&p->pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc) {
        p->pid = 0;
        return cuzk_error_set(err, CUZK_IO_ERROR, "cannot start %s: %s", path, strerror(rc));
    }
    return CUZK_OK;
}

/* The last two lines of the log say why it ended: what was wrong, and that it could not go on. */
static void last_words(const bench_process *p, char *out, size_t size)
{
    uint8_t *data;
    size_t n;
    cuzk_error ignored = {0};
    snprintf(out, size, "it said nothing");
    if (file_read(&data, &n, p->log, 1 << 20, &ignored))
        return;
    char *text = (char *)data;
    while (n && text[n - 1] == '\n')
        text[--n] = 0;
    size_t from = n;
    for (int lines = 0; from && (lines += text[from - 1] == '\n') < 2; from--)
        ;
    for (char *c = text + from; (c = strchr(c, '\n'));)
        *c = ';';
    if (n)
        snprintf(out, size, "%.300s", text + from);
    mem_free(data);
}

static cuzk_status wait_until_up(bench_process *p, cuzk_error *err)
{
    cuzk_error e = {0};
    for (int i = 0; i < START_SECONDS * 10; i++) {
        client *c;
        uint8_t *reply;
        size_t size;
        int status;
        if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
            char words[320];
            last_words(p, words, sizeof(words));
            p->pid = 0;
            return cuzk_error_set(err, CUZK_BAD_INPUT, "the daemon ended with status %d: %s",
                                  WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), words);
        }
        if (client_open(&c, p->address, NULL, NULL, NULL, NULL, &e) == CUZK_OK) {
            cuzk_status s = client_call(c, "GetStatus", NULL, 0, &reply, &size, 1000, &e);
            client_close(c);
            if (s == CUZK_OK) {
                mem_free(reply);
                return CUZK_OK;
            }
        }
        usleep(100000);
    }
    return cuzk_error_set(err, CUZK_DEADLINE, "the daemon does not answer after %d s: %s", START_SECONDS,
                          e.message);
}

cuzk_status bench_process_start(bench_process *p, const char *program, const char *file, const char *table,
                                const char *key, const char *value, cuzk_error *err)
{
    memset(p, 0, sizeof(*p));
    if (table && !find_option(table, key))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "the daemon has no option %s.%s", table, key);
    snprintf(p->folder, sizeof(p->folder), "/tmp/cuzk-bench-XXXXXX"); /* a socket's path must be short */
    if (!mkdtemp(p->folder)) {
        *p->folder = 0;
        return cuzk_error_set(err, CUZK_IO_ERROR, "cannot make a folder in /tmp: %s", strerror(errno));
    }
    snprintf(p->address, sizeof(p->address), "unix://%s/sock", p->folder);
    snprintf(p->config, sizeof(p->config), "%s/cuzk.toml", p->folder);
    snprintf(p->log, sizeof(p->log), "%s/log", p->folder);
    cuzk_status s = write_config(p->config, file, table, key, value, err);
    if (!s)
        s = spawn(p, program, err);
    if (!s)
        s = wait_until_up(p, err);
    if (s)
        bench_process_stop(p);
    return s;
}

int bench_process_stop(bench_process *p)
{
    static const char *const LEFT[] = {"sock", "sock.lock", "cuzk.toml", "log"};
    int status = -1;
    if (p->pid) {
        kill(p->pid, SIGTERM);
        while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    for (size_t i = 0; *p->folder && i < sizeof(LEFT) / sizeof(LEFT[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", p->folder, LEFT[i]);
        unlink(path);
    }
    if (*p->folder)
        rmdir(p->folder);
    int ended = p->pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    memset(p, 0, sizeof(*p));
    return ended;
}
