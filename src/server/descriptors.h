/* What the services are made of: the FileDescriptorSet of proto/, compiled in at build time, searched by file
 * or by the full name of a service, method, message, field, enumeration or value. */
#ifndef SERVER_DESCRIPTORS_H
#define SERVER_DESCRIPTORS_H
#include <stddef.h>
#include <stdint.h>

typedef struct descriptor_file { /* a FileDescriptorProto, and parts of it */
    const uint8_t *data;
    size_t size;
    const char *name, *package; /* not terminated */
    size_t name_size, package_size;
} descriptor_file;
/* The next file after *at (0 to begin); 0: there is none. */
int descriptor_next_file(descriptor_file *out, size_t *at);
/* 1 found. */
int descriptor_find_file(descriptor_file *out, const char *name);
int descriptor_find_symbol(descriptor_file *out, const char *symbol);
int descriptor_find_message(descriptor_file *out, const char *symbol); /* messages only */
/* The next service of f after *at: its name within the package. */
int descriptor_next_service(const descriptor_file *f, size_t *at, const char **name, size_t *name_size);
#endif
