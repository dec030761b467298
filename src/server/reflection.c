/* grpc.reflection.v1 and v1alpha: one handler for both, whose messages are the same bytes. */
#include "base/mem.h"
#include "reflection.pb-c.h"
#include "server/descriptors.h"
#include "server/rpc.h"
#include <stdio.h>
#include <string.h>

#define SERVICE_LIMIT 16
#define NAME_LIMIT    128

typedef Grpc__Reflection__V1__ServerReflectionRequest request;
typedef Grpc__Reflection__V1__ServerReflectionResponse response;
#define RESPONSE(what) GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_##what
#define REQUEST(what)  GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##what

/* What a response points into. */
typedef struct parts {
    Grpc__Reflection__V1__ErrorResponse error;
    Grpc__Reflection__V1__FileDescriptorResponse files;
    Grpc__Reflection__V1__ExtensionNumberResponse numbers;
    Grpc__Reflection__V1__ListServiceResponse list;
    Grpc__Reflection__V1__ServiceResponse service[SERVICE_LIMIT], *services[SERVICE_LIMIT];
    char name[SERVICE_LIMIT][NAME_LIMIT];
    ProtobufCBinaryData file;
} parts;

static void answer_not_found(response *r, parts *p, const char *what)
{
    grpc__reflection__v1__error_response__init(&p->error);
    p->error.error_code = GRPC_STATUS_NOT_FOUND;
    p->error.error_message = (char *)what;
    r->message_response_case = RESPONSE(ERROR_RESPONSE);
    r->error_response = &p->error;
}

static void answer_file(response *r, parts *p, int found, const descriptor_file *f, const char *what)
{
    if (!found) {
        answer_not_found(r, p, what);
        return;
    }
    grpc__reflection__v1__file_descriptor_response__init(&p->files);
    p->file = (ProtobufCBinaryData){f->size, (uint8_t *)f->data};
    p->files.n_file_descriptor_proto = 1;
    p->files.file_descriptor_proto = &p->file;
    r->message_response_case = RESPONSE(FILE_DESCRIPTOR_RESPONSE);
    r->file_descriptor_response = &p->files;
}

static void answer_services(response *r, parts *p)
{
    descriptor_file f;
    size_t n = 0, size;
    const char *name;
    grpc__reflection__v1__list_service_response__init(&p->list);
    for (size_t at = 0; descriptor_next_file(&f, &at);) {
        for (size_t in = 0; n < SERVICE_LIMIT && descriptor_next_service(&f, &in, &name, &size); n++) {
            snprintf(p->name[n], NAME_LIMIT, "%.*s.%.*s", (int)f.package_size, f.package, (int)size, name);
            grpc__reflection__v1__service_response__init(&p->service[n]);
            p->service[n].name = p->name[n];
            p->services[n] = &p->service[n];
        }
    }
    p->list.n_service = n;
    p->list.service = p->services;
    r->message_response_case = RESPONSE(LIST_SERVICES_RESPONSE);
    r->list_services_response = &p->list;
}

static void answer(response *r, parts *p, const request *q)
{
    descriptor_file f;
    switch (q->message_request_case) {
    case REQUEST(LIST_SERVICES):
        answer_services(r, p);
        break;
    case REQUEST(FILE_BY_FILENAME):
        answer_file(r, p, descriptor_find_file(&f, q->file_by_filename), &f, "there is no such file");
        break;
    case REQUEST(FILE_CONTAINING_SYMBOL):
        answer_file(r, p, descriptor_find_symbol(&f, q->file_containing_symbol), &f,
                    "there is no such symbol");
        break;
    case REQUEST(ALL_EXTENSION_NUMBERS_OF_TYPE):
        if (!descriptor_find_message(&f, q->all_extension_numbers_of_type)) {
            answer_not_found(r, p, "there is no such message");
            break;
        }
        grpc__reflection__v1__extension_number_response__init(&p->numbers); /* known, without extensions */
        p->numbers.base_type_name = q->all_extension_numbers_of_type;
        r->message_response_case = RESPONSE(ALL_EXTENSION_NUMBERS_RESPONSE);
        r->all_extension_numbers_response = &p->numbers;
        break;
    case REQUEST(FILE_CONTAINING_EXTENSION):
        answer_not_found(r, p, "no message here has extensions");
        break;
    default:
        grpc__reflection__v1__error_response__init(&p->error);
        p->error.error_code = GRPC_STATUS_INVALID_ARGUMENT;
        p->error.error_message = (char *)"the request asks for nothing";
        r->message_response_case = RESPONSE(ERROR_RESPONSE);
        r->error_response = &p->error;
        break;
    }
}

void reflection_handle(rpc_call *c, const uint8_t *data, size_t size)
{
    if (!data) {
        rpc_finish(c);
        return;
    }
    request *q = grpc__reflection__v1__server_reflection_request__unpack(NULL, size, data);
    if (!q) {
        rpc_fail(c, GRPC_STATUS_INVALID_ARGUMENT, "the request is not a ServerReflectionRequest");
        return;
    }
    parts p;
    response r = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;
    r.valid_host = q->host;
    r.original_request = q;
    answer(&r, &p, q);
    size_t n = grpc__reflection__v1__server_reflection_response__get_packed_size(&r);
    uint8_t *bytes = mem_alloc(n);
    if (bytes) {
        grpc__reflection__v1__server_reflection_response__pack(&r, bytes);
        rpc_send_and_receive(c, bytes, n);
    } else {
        rpc_fail(c, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory");
    }
    mem_free(bytes);
    grpc__reflection__v1__server_reflection_request__free_unpacked(q, NULL);
}
