// A device, the memory that an operation may use, and how failures are reported.
//
// Every function of the back end returns a status. A CUDA error becomes CUZK_DEVICE_ERROR (CUZK_OUT_OF_MEMORY
// for an allocation) with CUDA's text; any other than those that leave the device usable marks the device as
// lost, and from then on every call on it fails at once with that first text.
#pragma once
#include "cuzk/backend.h"
#include "rt.cuh"
#include <atomic>
#include <mutex>

namespace gpu
{
cuzk_status fail(cuzk_error *err, cuzk_status status, const char *format, ...) CUZK_PRINTF(3, 4);

// Device memory handed out from the front of one block and given back in reverse order. Work on it is ordered
// by the lane's stream, so what was given back may be handed out again at once.
struct arena {
    uint8_t *base = nullptr;
    size_t size = 0, used = 0;
    size_t left() const { return size - used; }
};

// Where operations run one after the other: a stream, scratch memory, a place for small results. The main
// lane runs all but the sums over L, A and B of a proof, which run beside it on the side lane.
struct lane {
    std::mutex lock;
    cudaStream_t stream = nullptr;
    arena scratch;
    uint8_t *readback = nullptr;
};
struct ntt_tables;                   // ntt.cuh
struct fixed_tables;                 // fixed_base.cuh
constexpr size_t READBACK = 1 << 20; // pinned bytes for small results
constexpr size_t STAGING = 32 << 20; // pinned bytes of one of the two upload buffers
} // namespace gpu

struct cuzk_device {
    int ordinal = 0, processors = 0, shared_optin = 0;
    cuzk_device_options options = {};
    std::mutex upload_lock; // one piece at a time uses the staging buffers
    std::atomic<bool> lost{false};
    char lost_text[160] = "";
    gpu::lane main, side;
    cudaStream_t copy_stream = nullptr;
    uint8_t *staging[2] = {nullptr, nullptr};
    cudaEvent_t staged[2] = {nullptr, nullptr};
    int next_stage = 0;
    gpu::ntt_tables *tables = nullptr;
    gpu::fixed_tables *fixed = nullptr;
    std::atomic<uint64_t> held{0}; // bytes of device memory held by keys, tables and scratch
};

namespace gpu
{
// One operation under way: what it runs on and whom it reports to.
struct context {
    cuzk_device *dev = nullptr;
    lane *on = nullptr;
    cudaStream_t stream = nullptr;
    arena *mem = nullptr;
    cuzk_error *err = nullptr;
    cuzk_cancel_fn *cancel = nullptr;
    void *cancel_ctx = nullptr;
};

cuzk_status cuda_failed(context &c, cudaError_t e, const char *what);
// Statements: leave the function with a status on failure.
#define GPU_TRY(expression)                                                                                  \
    do {                                                                                                     \
        cuzk_status gpu_status_ = (expression);                                                              \
        if (gpu_status_ != CUZK_OK)                                                                          \
            return gpu_status_;                                                                              \
    } while (0)
#define GPU_CUDA(c, call)                                                                                    \
    do {                                                                                                     \
        cudaError_t gpu_error_ = (call);                                                                     \
        if (gpu_error_ != cudaSuccess)                                                                       \
            return gpu::cuda_failed(c, gpu_error_, #call);                                                   \
    } while (0)
#define GPU_CHECK_LAUNCH(c) GPU_CUDA(c, cudaGetLastError())

// Refuses a lost device and makes it the calling thread's current one. The lane's lock is the caller's
// business.
cuzk_status context_begin(context &c, cuzk_device *dev, lane &on, cuzk_error *err);
cuzk_status check_cancel(context &c);
// Waits for the lane's stream.
cuzk_status synchronize(context &c);

cuzk_status device_alloc(context &c, void **p, size_t bytes); // cudaMalloc within the memory limit
void device_free(cuzk_device *dev, void *p, size_t bytes);
// Makes the lane's scratch block at least that large, better wanted bytes (contents are lost), and points
// c.mem at it, empty.
cuzk_status use_scratch(context &c, size_t bytes, size_t wanted = 0);
void drop_scratch(cuzk_device *dev, lane &l);
// Bytes that could be allocated now, within the limit.
cuzk_status available(context &c, size_t *bytes);

cuzk_status arena_take(context &c, void **p, size_t bytes); // 256-byte aligned
template <class T> cuzk_status take(context &c, T **p, size_t n)
{
    void *v = nullptr;
    cuzk_status s = arena_take(c, &v, n * sizeof(T));
    *p = (T *)v;
    return s;
}
inline size_t aligned(size_t bytes)
{
    return (bytes + 255) & ~(size_t)255;
}
// Gives back everything taken during its life.
struct arena_mark {
    arena *a;
    size_t used;
    explicit arena_mark(context &c) : a(c.mem), used(c.mem->used) {}
    ~arena_mark() { a->used = used; }
    arena_mark(const arena_mark &) = delete;
    arena_mark &operator=(const arena_mark &) = delete;
};

// Host memory (pageable) to the device on the given stream, through the pinned staging buffers; returns when
// src has been read. Small results back: waits for the stream.
cuzk_status upload(context &c, void *dst, const void *src, size_t bytes, cudaStream_t stream);
// The same from a query of a parameter file, by its own reader where it has one.
cuzk_status upload_query(context &c, void *dst, const cuzk_query_view *view, const uint8_t *src, size_t bytes,
                         cudaStream_t stream);
cuzk_status download(context &c, void *dst, const void *src, size_t bytes);
inline size_t div_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}
} // namespace gpu
