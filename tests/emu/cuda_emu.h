// A stand-in for the CUDA runtime: device memory is host memory, a stream is nothing, a kernel runs at once.
// It lets the CUDA back end run under the ordinary tests, sanitizers included, on a machine without a GPU; it
// says nothing about speed, and it does not find races between threads.
//
// CUZK_EMU_MEMORY sets the size of the pretended device (bytes). CUZK_EMU_FAIL_ALLOC=n makes the n-th device
// allocation fail, CUZK_EMU_FAIL_LAUNCH=n the n-th kernel launch, with an error that sticks as on a real
// device until the variable changes.
#pragma once
#include <algorithm>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __constant__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __restrict__
#define CUDA_EMULATED  1
#define CUDART_VERSION 13000

struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
struct alignas(8) uint2 {
    uint32_t x, y;
};
struct emu_dim3 {
    unsigned x;
};
extern thread_local emu_dim3 blockIdx, threadIdx, blockDim, gridDim;

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorNoDevice = 100,
    cudaErrorInsufficientDriver = 35
};
typedef struct emu_stream *cudaStream_t;
typedef struct emu_event *cudaEvent_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum {
    cudaStreamNonBlocking = 1,
    cudaEventDisableTiming = 2,
    cudaEventBlockingSync = 1,
    cudaHostAllocDefault = 0
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount;
    size_t sharedMemPerBlockOptin;
};

const char *cudaGetErrorString(cudaError_t e);
const char *cudaGetErrorName(cudaError_t e);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int ordinal);
cudaError_t cudaDriverGetVersion(int *v);
cudaError_t cudaSetDevice(int ordinal);
cudaError_t cudaMalloc(void **p, size_t n);
cudaError_t cudaFree(void *p);
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, cudaMemcpyKind k, cudaStream_t st);
cudaError_t cudaMemsetAsync(void *d, int v, size_t n, cudaStream_t st);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b);
cudaError_t cudaGetLastError();
template <class K> cudaError_t cudaFuncSetAttribute(K, cudaFuncAttribute, int)
{
    return cudaSuccess;
}

bool emu_launch_allowed(); // counts launches, for the failure tests
void *emu_shared();        // the dynamic shared memory of the running block
void emu_run_block(unsigned threads, size_t shared, void (*body)(void *), void *ctx);
void __syncthreads();
inline void __syncwarp()
{
    __syncthreads();
}
template <class T> T __ldg(const T *p)
{
    return *p;
}
inline int __clz(int v)
{
    return v ? __builtin_clz((unsigned)v) : 32;
}
inline int __popc(unsigned v)
{
    return __builtin_popcount(v);
}
inline int __popcll(unsigned long long v)
{
    return __builtin_popcountll(v);
}
inline unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= ((v >> i) & 1) << (31 - i);
    return r;
}
inline unsigned atomicMax(unsigned *p, unsigned v)
{
    unsigned o = *p;
    *p = std::max(o, v);
    return o;
}
inline unsigned atomicMin(unsigned *p, unsigned v)
{
    unsigned o = *p;
    *p = std::min(o, v);
    return o;
}
inline unsigned long long atomicMin(unsigned long long *p, unsigned long long v)
{
    unsigned long long o = *p;
    *p = std::min(o, v);
    return o;
}
inline unsigned long long atomicAdd(unsigned long long *p, unsigned long long v)
{
    unsigned long long o = *p;
    *p += v;
    return o;
}
inline unsigned atomicAdd(unsigned *p, unsigned v)
{
    unsigned o = *p;
    *p += v;
    return o;
}

template <class F> void emu_launch(unsigned grid, unsigned block, F run)
{
    if (!emu_launch_allowed())
        return;
    gridDim.x = grid;
    blockDim.x = block;
    for (unsigned b = 0; b < grid; b++)
        for (unsigned t = 0; t < block; t++) {
            blockIdx.x = b;
            threadIdx.x = t;
            run();
        }
}
template <class F> void emu_launch_sync(unsigned grid, unsigned block, size_t shared, F run)
{
    if (!emu_launch_allowed())
        return;
    gridDim.x = grid;
    blockDim.x = block;
    for (unsigned b = 0; b < grid; b++) {
        blockIdx.x = b;
        emu_run_block(
            block, shared, [](void *f) { (*(F *)f)(); }, &run);
    }
}
#define GPU_LAUNCH(kernel, grid, block, shared, stream, ...)                                                 \
    (emu_launch((unsigned)(grid), (unsigned)(block), [&] { (kernel)(__VA_ARGS__); }), (void)(stream))
#define GPU_LAUNCH_SYNC(kernel, grid, block, shared, stream, ...)                                            \
    (emu_launch_sync((unsigned)(grid), (unsigned)(block), (size_t)(shared), [&] { (kernel)(__VA_ARGS__); }), \
     (void)(stream))
