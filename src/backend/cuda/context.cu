// Devices: errors, memory, transfers.
#include "context.cuh"
#include <stdarg.h>
#include <thread>

namespace gpu
{
cuzk_status fail(cuzk_error *err, cuzk_status status, const char *format, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, format);
        vsnprintf(err->message, sizeof err->message, format, ap);
        va_end(ap);
        err->status = status;
    }
    return status;
}
cuzk_status cuda_failed(context &c, cudaError_t e, const char *what)
{
    (void)cudaGetLastError(); // so that the next launch does not report it again
    if (e == cudaErrorMemoryAllocation)
        return fail(c.err, CUZK_OUT_OF_MEMORY, "CUDA device %d: out of memory in %.80s", c.dev->ordinal, what);
    if (e != cudaErrorInvalidValue && !c.dev->lost.exchange(true))
        snprintf(c.dev->lost_text, sizeof c.dev->lost_text, "%s in %.60s", cudaGetErrorString(e), what);
    return fail(c.err, CUZK_DEVICE_ERROR, "CUDA device %d: %s in %.80s", c.dev->ordinal, cudaGetErrorString(e), what);
}
cuzk_status context_begin(context &c, cuzk_device *dev, cuzk_error *err)
{
    c.dev = dev;
    c.stream = dev->stream;
    c.mem = &dev->scratch;
    c.err = err;
    if (dev->lost)
        return fail(err, CUZK_DEVICE_ERROR, "CUDA device %d was lost earlier (%s); it is not used again by this process",
                    dev->ordinal, dev->lost_text);
    GPU_CUDA(c, cudaSetDevice(dev->ordinal));
    return CUZK_OK;
}
cuzk_status check_cancel(context &c)
{
    if (c.cancel && c.cancel(c.cancel_ctx))
        return fail(c.err, CUZK_CANCELLED, "the proof was cancelled");
    return CUZK_OK;
}
cuzk_status synchronize(context &c)
{
    GPU_CUDA(c, cudaStreamSynchronize(c.stream));
    return CUZK_OK;
}

// ---- device memory ----
constexpr size_t HEADROOM = 256u << 20; // left to the driver: local memory of kernels, other processes' contexts
cuzk_status available(context &c, size_t *bytes)
{
    size_t free_bytes = 0, total = 0;
    GPU_CUDA(c, cudaMemGetInfo(&free_bytes, &total));
    size_t headroom = std::min(HEADROOM, total / 16);
    free_bytes = free_bytes > headroom ? free_bytes - headroom : 0;
    if (c.dev->options.memory_limit) {
        size_t limit = c.dev->options.memory_limit, held = c.dev->held;
        free_bytes = std::min(free_bytes, limit > held ? limit - held : 0);
    }
    *bytes = free_bytes;
    return CUZK_OK;
}
cuzk_status device_alloc(context &c, void **p, size_t bytes)
{
    *p = nullptr;
    bytes = bytes ? bytes : 1;
    size_t limit = c.dev->options.memory_limit;
    if (limit && c.dev->held + bytes > limit)
        return fail(c.err, CUZK_OUT_OF_MEMORY,
                    "CUDA device %d: %zu MiB more would pass the limit of %zu MiB set for this device",
                    c.dev->ordinal, bytes >> 20, limit >> 20);
    cudaError_t e = cudaMalloc(p, bytes);
    if (e == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return fail(c.err, CUZK_OUT_OF_MEMORY, "CUDA device %d: %zu MiB of device memory could not be had",
                    c.dev->ordinal, (bytes >> 20) + 1);
    }
    GPU_CUDA(c, e);
    c.dev->held += bytes;
    return CUZK_OK;
}
void device_free(cuzk_device *dev, void *p, size_t bytes)
{
    if (!p)
        return;
    (void)cudaFree(p); // on a lost device there is nothing left to give back
    dev->held -= bytes ? bytes : 1;
}
void drop_scratch(cuzk_device *dev)
{
    device_free(dev, dev->scratch.base, dev->scratch.size);
    dev->scratch = arena();
}
cuzk_status use_scratch(context &c, size_t bytes)
{
    arena &a = c.dev->scratch;
    if (a.size < bytes) {
        GPU_TRY(synchronize(c));
        drop_scratch(c.dev);
        void *p;
        GPU_TRY(device_alloc(c, &p, bytes));
        a.base = (uint8_t *)p;
        a.size = bytes;
    }
    a.used = 0;
    c.mem = &a;
    return CUZK_OK;
}
cuzk_status arena_take(context &c, void **p, size_t bytes)
{
    bytes = aligned(bytes ? bytes : 1);
    arena &a = *c.mem;
    if (bytes > a.left())
        return fail(c.err, CUZK_OUT_OF_MEMORY, "%zu MiB of device scratch memory are too few: %zu MiB are taken and "
                                               "%zu MiB more are needed",
                    a.size >> 20, a.used >> 20, (bytes >> 20) + 1);
    *p = a.base + a.used;
    a.used += bytes;
    return CUZK_OK;
}

// ---- transfers ----
// One core copies from the page cache at about 10 GB/s, PCIe takes 55: large pieces are copied by several threads.
static void copy_parallel(uint8_t *dst, const uint8_t *src, size_t bytes, unsigned threads)
{
    constexpr size_t SMALL = 2 << 20;
    unsigned n = (unsigned)std::min<size_t>(threads ? threads : 1, bytes / SMALL);
    if (n <= 1) {
        memcpy(dst, src, bytes);
        return;
    }
    std::thread team[16];
    size_t each = (div_up(bytes, n) + 63) & ~(size_t)63;
    unsigned started = 0;
    for (unsigned i = 1; i < n; i++) {
        size_t at = i * each;
        if (at >= bytes)
            break;
        try {
            team[started] = std::thread(memcpy, dst + at, src + at, std::min(each, bytes - at));
            started++;
        } catch (...) { // no thread to be had: do it here
            memcpy(dst + at, src + at, std::min(each, bytes - at));
        }
    }
    memcpy(dst, src, std::min(each, bytes));
    for (unsigned i = 0; i < started; i++)
        team[i].join();
}
cuzk_status upload(context &c, void *dst, const void *src, size_t bytes, cudaStream_t stream)
{
    std::lock_guard<std::mutex> guard(c.dev->upload_lock);
    unsigned threads = c.dev->options.threads ? c.dev->options.threads : std::thread::hardware_concurrency();
    threads = std::min(threads, 8u);
    for (size_t at = 0, i = 0; at < bytes; at += STAGING, i ^= 1) {
        size_t n = std::min(STAGING, bytes - at);
        GPU_CUDA(c, cudaEventSynchronize(c.dev->staged[i]));
        copy_parallel(c.dev->staging[i], (const uint8_t *)src + at, n, threads);
        GPU_CUDA(c, cudaMemcpyAsync((uint8_t *)dst + at, c.dev->staging[i], n, cudaMemcpyHostToDevice, stream));
        GPU_CUDA(c, cudaEventRecord(c.dev->staged[i], stream));
    }
    return CUZK_OK;
}
cuzk_status download(context &c, void *dst, const void *src, size_t bytes)
{
    if (bytes <= READBACK) {
        GPU_CUDA(c, cudaMemcpyAsync(c.dev->readback, src, bytes, cudaMemcpyDeviceToHost, c.stream));
        GPU_CUDA(c, cudaStreamSynchronize(c.stream));
        memcpy(dst, c.dev->readback, bytes);
        return CUZK_OK;
    }
    std::lock_guard<std::mutex> guard(c.dev->upload_lock);
    unsigned threads = std::min(std::max(1u, std::thread::hardware_concurrency()), 8u);
    size_t pieces = div_up(bytes, STAGING);
    for (size_t i = 0; i <= pieces; i++) { // piece i starts while piece i - 1 is copied out
        if (i < pieces) {
            size_t n = std::min(STAGING, bytes - i * STAGING);
            GPU_CUDA(c, cudaEventSynchronize(c.dev->staged[i & 1]));
            GPU_CUDA(c, cudaMemcpyAsync(c.dev->staging[i & 1], (const uint8_t *)src + i * STAGING, n,
                                        cudaMemcpyDeviceToHost, c.stream));
            GPU_CUDA(c, cudaEventRecord(c.dev->staged[i & 1], c.stream));
        }
        if (i > 0) {
            size_t n = std::min(STAGING, bytes - (i - 1) * STAGING);
            GPU_CUDA(c, cudaEventSynchronize(c.dev->staged[(i - 1) & 1]));
            copy_parallel((uint8_t *)dst + (i - 1) * STAGING, c.dev->staging[(i - 1) & 1], n, threads);
        }
    }
    return CUZK_OK;
}
} // namespace gpu
