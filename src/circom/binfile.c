/* The container of iden3's binary files: magic, version, sections of (type, size, bytes). */
#include "base/encode.h"
#include "base/mem.h"
#include "circom/circom.h"
#include <stdlib.h>

static const uint8_t BLS12_381_R[32] = {0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                                        0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8,
                                        0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};
static const uint8_t BN254_R_HEAD[8] = {0x01, 0x00, 0x00, 0xf0, 0x93, 0xf5, 0xe1, 0x43};

static cuzk_status read_sections(binfile *f, uint32_t count, uint32_t required, cuzk_error *err)
{
    const uint8_t *at = f->map.data + 12;
    uint64_t left = f->map.size - 12;
    for (uint32_t i = 0; i < count; i++) {
        if (left < 12)
            return cuzk_error_set(err, CUZK_BAD_INPUT, "%s ends before section %u of %u", f->path, i + 1,
                                  count);
        uint32_t type = load_le32(at);
        uint64_t size = load_le64(at + 4);
        at += 12;
        left -= 12;
        if (size > left)
            return cuzk_error_set(err, CUZK_BAD_INPUT,
                                  "%s: section %u claims %llu bytes, but %llu are left in the file", f->path,
                                  type, (unsigned long long)size, (unsigned long long)left);
        if (type < BINFILE_MAX_SECTIONS) { /* others may be added by later versions and are passed over */
            if (f->section[type])
                return cuzk_error_set(err, CUZK_BAD_INPUT, "%s holds section %u twice", f->path, type);
            f->section[type] = at;
            f->size[type] = size;
        }
        at += size;
        left -= size;
    }
    for (uint32_t type = 0; type < BINFILE_MAX_SECTIONS; type++)
        if (required >> type & 1 && !f->section[type])
            return cuzk_error_set(err, CUZK_BAD_INPUT, "%s has no section %u", f->path, type);
    return CUZK_OK;
}

cuzk_status binfile_open(binfile *f, const char *path, const char *magic, uint32_t max_version,
                         uint32_t required, cuzk_error *err)
{
    memset(f, 0, sizeof(*f));
    cuzk_status s = file_map_open(&f->map, path, err);
    if (s)
        return s;
    f->path = strdup(path);
    if (!f->path)
        s = mem_error(err, strlen(path), "a path");
    else if (f->map.size < 12 || memcmp(f->map.data, magic, 4) != 0)
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s is not a .%s file", path, magic);
    else if ((f->version = load_le32(f->map.data + 4)) > max_version || !f->version)
        s = cuzk_error_set(err, CUZK_UNSUPPORTED, "%s: version %u of .%s is not known (at most %u)", path,
                           f->version, magic, max_version);
    else
        s = read_sections(f, load_le32(f->map.data + 8), required, err);
    if (s)
        binfile_close(f);
    return s;
}

void binfile_close(binfile *f)
{
    file_map_close(&f->map);
    free(f->path);
    memset(f, 0, sizeof(*f));
    f->map.fd = -1;
}

cuzk_status binfile_check_scalar_field(const binfile *f, uint32_t n8, const uint8_t *prime, size_t available,
                                       cuzk_error *err)
{
    if (n8 == 32 && available >= 32 && !memcmp(prime, BLS12_381_R, 32))
        return CUZK_OK;
    int bn254 = n8 == 32 && available >= 32 && !memcmp(prime, BN254_R_HEAD, 8);
    return cuzk_error_set(err, CUZK_UNSUPPORTED,
                          "%s is over %s; only BLS12-381 is supported (circom -p bls12381)", f->path,
                          bn254 ? "BN254" : "another field");
}
