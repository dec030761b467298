/* A PostgreSQL of the test's own: a fresh cluster in a temporary folder, reached over a unix socket only. */
#ifndef TESTS_ENGINE_POSTGRES_SERVER_H
#define TESTS_ENGINE_POSTGRES_SERVER_H
typedef struct postgres_server {
    char folder[64], url[200], bin[200];
} postgres_server;
/* 0, or -1 with a message on stderr where PostgreSQL is not installed: the test is then skipped. */
int postgres_start(postgres_server *p);
void postgres_stop(postgres_server *p);
/* Stops and starts the server; connections break. */
void postgres_sql(const postgres_server *p, const char *statement);
void postgres_restart(postgres_server *p);
#endif
