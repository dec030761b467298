/* web/index.html, compiled in by cmake/embed.cmake. */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H
#include <stddef.h>
extern const unsigned char STATUS_PAGE[];
extern const size_t STATUS_PAGE_SIZE;
#endif
