#include "engine/postgres_server.h"
#include "engine/support.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PostgreSQL refuses to run as root. */
static int as_owner(const postgres_server *p, const char *command)
{
    char line[1200];
    if (geteuid() == 0)
        snprintf(line, sizeof line, "cd %s && runuser -u postgres -- sh -c '%s' >%s/log 2>&1", p->folder,
                 command, p->folder);
    else
        snprintf(line, sizeof line, "cd %s && sh -c '%s' >%s/log 2>&1", p->folder, command, p->folder);
    return system(line);
}

static int find_binaries(char out[200])
{
    glob_t g;
    int found = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &g) == 0 && g.gl_pathc;
    if (found)
        snprintf(out, 200, "%.*s",
                 (int)(strrchr(g.gl_pathv[g.gl_pathc - 1], '/') - g.gl_pathv[g.gl_pathc - 1]),
                 g.gl_pathv[g.gl_pathc - 1]);
    globfree(&g);
    return found ? 0 : -1;
}

static int control(const postgres_server *p, const char *what)
{
    char command[800];
    snprintf(
        command, sizeof command,
        "%s/pg_ctl -D %s/data -w -m fast -l %s/server.log -o \"-k %s -c listen_addresses= -c fsync=off\" %s",
        p->bin, p->folder, p->folder, p->folder, what);
    return as_owner(p, command);
}

int postgres_start(postgres_server *p)
{
    char command[400];
    memset(p, 0, sizeof *p);
    if (find_binaries(p->bin)) {
        fprintf(stderr, "PostgreSQL is not installed: skipped\n");
        return -1;
    }
    test_folder(p->folder);
    snprintf(command, sizeof command, "chmod 777 %s", p->folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/initdb -D %s/data -A trust -U cuzk --no-sync -E UTF8 --locale=C",
             p->bin, p->folder);
    if (as_owner(p, command) || control(p, "start"))
        fail_msg("PostgreSQL does not start; see %s/log", p->folder);
    snprintf(p->url, sizeof p->url, "postgres://cuzk@/postgres?host=%s", p->folder);
    return 0;
}

void postgres_stop(postgres_server *p)
{
    if (!p->url[0])
        return;
    control(p, "stop");
    test_remove_folder(p->folder);
}

void postgres_sql(const postgres_server *p, const char *statement)
{
    char command[800];
    snprintf(command, sizeof command, "%s/psql -q -v ON_ERROR_STOP=1 -h %s -U cuzk postgres -c \"%s\"",
             p->bin, p->folder, statement);
    assert_int_equal(system(command), 0);
}

void postgres_restart(postgres_server *p)
{
    assert_int_equal(control(p, "restart"), 0);
}
