/* The table of the CPU back end and its one device: the processor this process runs on. */
#include "backend/cpu/cpu.h"
#include "base/cpu.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static cuzk_status device_count(uint32_t *count, cuzk_error *err)
{
    (void)err;
    *count = 1;
    return CUZK_OK;
}

static uint64_t memory_total(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static cuzk_status check_ordinal(uint32_t ordinal, cuzk_error *err)
{
    if (ordinal == 0)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                          "the CPU back end has one device, number 0; %u was asked for", ordinal);
}

static cuzk_status device_describe(uint32_t ordinal, cuzk_device_info *info, cuzk_error *err)
{
    cuzk_status s = check_ordinal(ordinal, err);
    if (s != CUZK_OK)
        return s;
    const cpu_features *f = cpu_get();
    memset(info, 0, sizeof(*info));
    snprintf(info->name, sizeof(info->name), "%s", f->name[0] ? f->name : "CPU");
    snprintf(info->detail, sizeof(info->detail), "%s%s%s%s%s", f->adx ? "ADX " : "", f->avx2 ? "AVX2 " : "",
             f->avx512 ? "AVX-512 " : "", f->ifma ? "IFMA " : "", f->sha_ni ? "SHA-NI" : "");
    info->memory_total = memory_total();
    info->memory_free = mem_available_bytes();
    info->processors = pool_processors();
    return CUZK_OK;
}

static cuzk_status device_open(cuzk_device **out, uint32_t ordinal, const cuzk_device_options *options,
                               cuzk_error *err)
{
    *out = NULL;
    cuzk_status s = check_ordinal(ordinal, err);
    if (s != CUZK_OK)
        return s;
    cuzk_device *d = mem_calloc(1, sizeof(*d));
    if (!d)
        return mem_error(err, sizeof(*d), "a device");
    if (options)
        d->options = *options;
    s = pool_create(&d->pool, d->options.threads, err);
    if (s == CUZK_OK)
        *out = d;
    else
        mem_free(d);
    return s;
}

static void device_close(cuzk_device *device)
{
    if (!device)
        return;
    pool_destroy(device->pool);
    mem_free(device);
}

static cuzk_status device_memory(cuzk_device *device, uint64_t *free_bytes, uint64_t *total_bytes,
                                 cuzk_error *err)
{
    (void)device;
    (void)err;
    *free_bytes = mem_available_bytes();
    *total_bytes = memory_total();
    return CUZK_OK;
}

static const cuzk_backend cpu_backend = {
    .abi = CUZK_BACKEND_ABI,
    .size = sizeof(cuzk_backend),
    .name = "cpu",
    .device_count = device_count,
    .device_describe = device_describe,
    .device_open = device_open,
    .device_close = device_close,
    .device_memory = device_memory,
    .key_load = cpu_key_load,
    .key_unload = cpu_key_unload,
    .key_bytes = cpu_key_bytes,
    .prove_start = cpu_prove_start,
    .prove_finish = cpu_prove_finish,
    .prove_batch = cpu_prove_batch,
    .op_fr = cpu_op_fr,
    .op_fp = cpu_op_fp,
    .op_fp2 = cpu_op_fp2,
    .op_ntt = cpu_op_ntt,
    .op_quotient = cpu_op_quotient,
    .op_multiply = cpu_op_multiply,
    .op_msm_g1 = cpu_op_msm_g1,
    .op_msm_g2 = cpu_op_msm_g2,
    .op_subset_g1 = cpu_op_subset_g1,
    .op_subset_g2 = cpu_op_subset_g2,
    .op_fixed_g1 = cpu_op_fixed_g1,
    .op_fixed_g2 = cpu_op_fixed_g2,
};

const cuzk_backend *cuzk_backend_cpu(void)
{
    return &cpu_backend;
}
