// The table of the CUDA back end, and opening devices.
#include "fixed_base.cuh"
#include "ntt.cuh"
#include "ops.cuh"
#include "prove.cuh"

namespace gpu
{
static cuzk_status count_devices(int *n, cuzk_error *err)
{
    cudaError_t e = cudaGetDeviceCount(n);
    (void)cudaGetLastError();
    if (e == cudaErrorInsufficientDriver)
        return fail(err, CUZK_UNSUPPORTED, "no NVIDIA driver, or one that is too old for CUDA %d.%d",
                    CUDART_VERSION / 1000, CUDART_VERSION / 10 % 100);
    if (e == cudaErrorNoDevice || (e == cudaSuccess && *n == 0))
        return fail(err, CUZK_UNSUPPORTED, "the NVIDIA driver reports no device");
    if (e != cudaSuccess)
        return fail(err, CUZK_UNSUPPORTED, "CUDA cannot be used: %s", cudaGetErrorString(e));
    return CUZK_OK;
}
static cuzk_status device_count(uint32_t *count, cuzk_error *err)
{
    int n = 0;
    *count = 0;
    GPU_TRY(count_devices(&n, err));
    *count = (uint32_t)n;
    return CUZK_OK;
}
static cuzk_status check_ordinal(uint32_t ordinal, cuzk_error *err)
{
    int n = 0;
    GPU_TRY(count_devices(&n, err));
    if (ordinal >= (uint32_t)n)
        return fail(err, CUZK_INVALID_ARGUMENT, "there is no CUDA device %u: the driver reports %d", ordinal,
                    n);
    return CUZK_OK;
}
static cuzk_status device_describe(uint32_t ordinal, cuzk_device_info *info, cuzk_error *err)
{
    cudaDeviceProp p;
    int driver = 0;
    size_t free_bytes = 0, total = 0;
    GPU_TRY(check_ordinal(ordinal, err));
    cudaError_t e = cudaGetDeviceProperties(&p, (int)ordinal);
    if (e == cudaSuccess)
        e = cudaDriverGetVersion(&driver);
    if (e == cudaSuccess)
        e = cudaSetDevice((int)ordinal);
    if (e == cudaSuccess)
        e = cudaMemGetInfo(&free_bytes, &total);
    if (e != cudaSuccess) {
        (void)cudaGetLastError();
        return fail(err, CUZK_DEVICE_ERROR, "CUDA device %u does not answer: %s", ordinal,
                    cudaGetErrorString(e));
    }
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%.127s", p.name);
    snprintf(info->detail, sizeof info->detail,
             "compute capability %d.%d, driver for CUDA %d.%d, runtime %d.%d", p.major, p.minor,
             driver / 1000, driver / 10 % 100, CUDART_VERSION / 1000, CUDART_VERSION / 10 % 100);
    info->memory_total = total;
    info->memory_free = free_bytes;
    info->processors = (uint32_t)p.multiProcessorCount;
    return CUZK_OK;
}
static void device_close(cuzk_device *dev)
{
    if (!dev)
        return;
    (void)cudaSetDevice(dev->ordinal);
    for (lane *l : {&dev->main, &dev->side})
        if (l->stream)
            (void)cudaStreamSynchronize(l->stream);
    ntt_release(dev);
    fixed_release(dev);
    for (lane *l : {&dev->main, &dev->side}) {
        drop_scratch(dev, *l);
        (void)cudaFreeHost(l->readback);
        if (l->stream)
            (void)cudaStreamDestroy(l->stream);
    }
    for (int i = 0; i < 2; i++) {
        (void)cudaFreeHost(dev->staging[i]);
        if (dev->staged[i])
            (void)cudaEventDestroy(dev->staged[i]);
    }
    if (dev->copy_stream)
        (void)cudaStreamDestroy(dev->copy_stream);
    delete dev;
}
static cuzk_status open_device(context &c, cuzk_device *dev)
{
    cudaDeviceProp p;
    GPU_CUDA(c, cudaGetDeviceProperties(&p, dev->ordinal));
    dev->processors = p.multiProcessorCount;
    int least = 0, most = 0;
    GPU_CUDA(c, cudaDeviceGetStreamPriorityRange(&least, &most));
    for (lane *l : {&dev->main, &dev->side}) {
        // the side lane's kernels are small: they go first and fill what the main lane's leave
        GPU_CUDA(c, cudaStreamCreateWithPriority(&l->stream, cudaStreamNonBlocking,
                                                 l == &dev->side ? most : least));
        GPU_CUDA(c, cudaHostAlloc((void **)&l->readback, READBACK, cudaHostAllocDefault));
    }
    GPU_CUDA(c, cudaStreamCreateWithFlags(&dev->copy_stream, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++) {
        GPU_CUDA(c, cudaHostAlloc((void **)&dev->staging[i], STAGING, cudaHostAllocDefault));
        GPU_CUDA(c, cudaEventCreateWithFlags(&dev->staged[i], cudaEventDisableTiming));
    }
    return CUZK_OK;
}
static cuzk_status device_open(cuzk_device **out, uint32_t ordinal, const cuzk_device_options *options,
                               cuzk_error *err)
{
    *out = nullptr;
    GPU_TRY(check_ordinal(ordinal, err));
    size_t pinned = 2 * READBACK + 2 * STAGING;
    if (options && options->pinned_limit && options->pinned_limit < pinned)
        return fail(err, CUZK_INVALID_ARGUMENT, "%llu bytes of pinned memory are allowed, a device needs %zu",
                    (unsigned long long)options->pinned_limit, pinned);
    cuzk_device *dev = new (std::nothrow) cuzk_device;
    if (!dev)
        return fail(err, CUZK_OUT_OF_MEMORY, "memory for a device could not be had");
    dev->ordinal = (int)ordinal;
    if (options)
        dev->options = *options;
    context c;
    cuzk_status s = context_begin(c, dev, dev->main, err);
    if (s == CUZK_OK) {
        c.stream = nullptr;
        s = open_device(c, dev);
    }
    if (s != CUZK_OK) {
        device_close(dev);
        return s;
    }
    *out = dev;
    return CUZK_OK;
}
static cuzk_status device_memory(cuzk_device *dev, uint64_t *free_bytes, uint64_t *total_bytes,
                                 cuzk_error *err)
{
    context c;
    size_t f = 0, t = 0;
    GPU_TRY(context_begin(c, dev, dev->main, err));
    GPU_CUDA(c, cudaMemGetInfo(&f, &t));
    if (dev->options.memory_limit) {
        uint64_t limit = dev->options.memory_limit, held = dev->held;
        t = std::min<size_t>(t, limit);
        f = std::min<size_t>(f, limit > held ? limit - held : 0);
    }
    *free_bytes = f;
    *total_bytes = t;
    return CUZK_OK;
}
static void key_unload_locked(cuzk_device_key *key)
{
    if (!key)
        return;
    std::scoped_lock guard(key->dev->main.lock, key->dev->side.lock);
    key_unload(key);
}
static cuzk_backend make_table()
{
    cuzk_backend b;
    memset(&b, 0, sizeof b);
    b.abi = CUZK_BACKEND_ABI;
    b.size = sizeof b;
    b.name = "cuda";
    b.device_count = device_count;
    b.device_describe = device_describe;
    b.device_open = device_open;
    b.device_close = device_close;
    b.device_memory = device_memory;
    b.key_load = key_load;
    b.key_unload = key_unload_locked;
    b.key_bytes = key_bytes;
    b.prove_start = prove_start;
    b.prove_finish = prove_finish;
    b.prove_batch = prove_batch;
    b.op_fr = op_fr;
    b.op_fp = op_fp;
    b.op_fp2 = op_fp2;
    b.op_ntt = op_ntt;
    b.op_quotient = op_quotient;
    b.op_multiply = op_multiply;
    b.op_msm_g1 = op_msm_g1;
    b.op_msm_g2 = op_msm_g2;
    b.op_subset_g1 = op_subset_g1;
    b.op_subset_g2 = op_subset_g2;
    b.op_fixed_g1 = op_fixed_g1;
    b.op_fixed_g2 = op_fixed_g2;
    return b;
}
} // namespace gpu

// The one exported symbol. The table is returned even where there is no device: device_count then says why.
extern "C" __attribute__((visibility("default"))) const cuzk_backend *cuzk_backend_entry(cuzk_error *err);
extern "C" const cuzk_backend *cuzk_backend_entry(cuzk_error *err)
{
    (void)err;
    static const cuzk_backend table = gpu::make_table();
    return &table;
}
