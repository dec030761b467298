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
        return fail(c.err, CUZK_OUT_OF_MEMORY, "CUDA device %d: out of memory in %.80s", c.dev->ordinal,
                    what);
    if (e != cudaErrorInvalidValue && !c.dev->lost.exchange(true))
        snprintf(c.dev->lost_text, sizeof c.dev->lost_text, "%s in %.60s", cudaGetErrorString(e), what);
    return fail(c.err, CUZK_DEVICE_ERROR, "CUDA device %d: %s in %.80s", c.dev->ordinal,
                cudaGetErrorString(e), what);
}
cuzk_status context_begin(context &c, cuzk_device *dev, lane &on, cuzk_error *err)
{
    c.dev = dev;
    c.on = &on;
    c.stream = on.stream;
    c.mem = &on.scratch;
    c.err = err;
    if (dev->lost)
        return fail(err, CUZK_DEVICE_ERROR,
                    "CUDA device %d was lost earlier (%s); it is not used again by this process",
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
constexpr size_t HEADROOM =
    256u << 20; // left to the driver: local memory of kernels, other processes' contexts
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
void drop_scratch(cuzk_device *dev, lane &l)
{
    device_free(dev, l.scratch.base, l.scratch.size);
    l.scratch = arena();
}
cuzk_status use_scratch(context &c, size_t bytes, size_t wanted)
{
    arena &a = c.on->scratch;
    constexpr size_t ALIGNMENTS = 16384; // what rounding up many small pieces takes
    bytes += ALIGNMENTS;
    size_t target = std::max(bytes, wanted + ALIGNMENTS);
    if (a.size < target) {
        size_t room;
        GPU_TRY(available(c, &room));
        target = std::max(bytes, std::min(target, room + a.size));
    }
    if (a.size < target) {
        GPU_TRY(synchronize(c));
        drop_scratch(c.dev, *c.on);
        void *p;
        GPU_TRY(device_alloc(c, &p, target));
        a.base = (uint8_t *)p;
        a.size = target;
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
        return fail(c.err, CUZK_OUT_OF_MEMORY,
                    "%zu MiB of device scratch memory are too few: %zu MiB are taken and "
                    "%zu MiB more are needed",
                    a.size >> 20, a.used >> 20, (bytes >> 20) + 1);
    *p = a.base + a.used;
    a.used += bytes;
    return CUZK_OK;
}

// ---- transfers ----
// One core copies from the page cache at about 10 GB/s, PCIe takes 55: large pieces are copied by several
// threads.
namespace
{
struct copy_source {
    const cuzk_query_view *view; // NULL: plain memory
    cuzk_status get(void *dst, const uint8_t *src, size_t bytes, cuzk_error *err) const
    {
        if (view && view->read)
            return view->read(view->read_ctx, dst, src, bytes, err);
        memcpy(dst, src, bytes);
        return CUZK_OK;
    }
};
} // namespace
static cuzk_status copy_parallel(uint8_t *dst, const uint8_t *src, size_t bytes, unsigned threads,
                                 const copy_source &source, cuzk_error *err)
{
    constexpr size_t SMALL = 2 << 20;
    constexpr unsigned MOST = 16;
    unsigned n = (unsigned)std::min<size_t>(std::min(threads, MOST), bytes / SMALL);
    if (n <= 1)
        return source.get(dst, src, bytes, err);
    std::thread team[MOST];
    cuzk_error errors[MOST];
    cuzk_status status[MOST];
    size_t each = (div_up(bytes, n) + 63) & ~(size_t)63;
    auto part = [&](unsigned i) {
        size_t at = i * each;
        errors[i].message[0] = 0;
        status[i] =
            at < bytes ? source.get(dst + at, src + at, std::min(each, bytes - at), &errors[i]) : CUZK_OK;
    };
    for (unsigned i = 1; i < n; i++) {
        try {
            team[i] = std::thread(part, i);
        } catch (...) { // no thread to be had: do it here
            part(i);
        }
    }
    part(0);
    cuzk_status s = CUZK_OK;
    for (unsigned i = 0; i < n; i++) {
        if (team[i].joinable())
            team[i].join();
        if (s == CUZK_OK && status[i] != CUZK_OK)
            s = fail(err, status[i], "%s", errors[i].message);
    }
    return s;
}
static unsigned copy_threads(const cuzk_device *dev)
{
    unsigned n = dev->options.threads ? dev->options.threads : std::thread::hardware_concurrency();
    return std::max(1u, std::min(n, 8u));
}
static cuzk_status upload_from(context &c, void *dst, const uint8_t *src, size_t bytes, cudaStream_t stream,
                               const copy_source &source)
{
    for (size_t at = 0; at < bytes; at += STAGING) {
        std::lock_guard<std::mutex> guard(c.dev->upload_lock);
        size_t n = std::min(STAGING, bytes - at);
        int i = c.dev->next_stage ^= 1;
        GPU_CUDA(c, cudaEventSynchronize(c.dev->staged[i]));
        GPU_TRY(copy_parallel(c.dev->staging[i], src + at, n, copy_threads(c.dev), source, c.err));
        GPU_CUDA(c,
                 cudaMemcpyAsync((uint8_t *)dst + at, c.dev->staging[i], n, cudaMemcpyHostToDevice, stream));
        GPU_CUDA(c, cudaEventRecord(c.dev->staged[i], stream));
    }
    return CUZK_OK;
}
cuzk_status upload(context &c, void *dst, const void *src, size_t bytes, cudaStream_t stream)
{
    return upload_from(c, dst, (const uint8_t *)src, bytes, stream, copy_source{nullptr});
}
cuzk_status upload_query(context &c, void *dst, const cuzk_query_view *view, const uint8_t *src, size_t bytes,
                         cudaStream_t stream)
{
    return upload_from(c, dst, src, bytes, stream, copy_source{view});
}
cuzk_status download(context &c, void *dst, const void *src, size_t bytes)
{
    if (bytes <= READBACK) {
        GPU_CUDA(c, cudaMemcpyAsync(c.on->readback, src, bytes, cudaMemcpyDeviceToHost, c.stream));
        GPU_CUDA(c, cudaStreamSynchronize(c.stream));
        memcpy(dst, c.on->readback, bytes);
        return CUZK_OK;
    }
    std::lock_guard<std::mutex> guard(c.dev->upload_lock);
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
            GPU_TRY(copy_parallel((uint8_t *)dst + (i - 1) * STAGING, c.dev->staging[(i - 1) & 1], n,
                                  copy_threads(c.dev), copy_source{nullptr}, c.err));
        }
    }
    return CUZK_OK;
}
} // namespace gpu
