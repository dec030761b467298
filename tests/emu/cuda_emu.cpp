// The stand-in for the CUDA runtime: see cuda_emu.h. Threads that wait for each other are coroutines of one
// block.
#include "cuda_emu.h"
#include <mutex>
#include <stdio.h>
#include <ucontext.h>
#include <unordered_map>

thread_local emu_dim3 blockIdx, threadIdx, blockDim, gridDim;

namespace
{
std::mutex lock;
std::unordered_map<void *, size_t> blocks;
size_t used;
cudaError_t pending, sticky; // sticky: as after a fault on a real device, everything fails from then on

size_t pretended()
{
    const char *s = getenv("CUZK_EMU_MEMORY");
    return s ? (size_t)strtoull(s, nullptr, 0) : (size_t)1 << 30;
}
// Counts uses of one kind; the count starts again when the wish changes.
struct fault {
    const char *name;
    long count = 0, wish = 0;
    bool changed() // the wish is another one than before
    {
        const char *s = getenv(name);
        long w = s ? strtol(s, nullptr, 0) : 0;
        if (w == wish)
            return false;
        wish = w;
        count = 0;
        return true;
    }
    bool now()
    {
        (void)changed();
        return ++count == wish;
    }
};
fault alloc_fault = {"CUZK_EMU_FAIL_ALLOC"}, launch_fault = {"CUZK_EMU_FAIL_LAUNCH"};
} // namespace

const char *cudaGetErrorString(cudaError_t e)
{
    switch (e) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorIllegalAddress:
        return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    default:
        return "emulated error";
    }
}
const char *cudaGetErrorName(cudaError_t e)
{
    return e == cudaSuccess ? "cudaSuccess" : "cudaErrorEmulated";
}
cudaError_t cudaGetDeviceCount(int *n)
{
    *n = getenv("CUZK_EMU_DEVICES") ? atoi(getenv("CUZK_EMU_DEVICES")) : 1;
    return *n ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "emulated device");
    p->totalGlobalMem = pretended();
    p->major = 9;
    p->multiProcessorCount = 2;
    p->sharedMemPerBlockOptin = 99 << 10;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *v)
{
    *v = 13000;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int)
{
    std::lock_guard<std::mutex> g(lock);
    if (launch_fault.changed())
        sticky = cudaSuccess; // a new process, so to say
    return sticky;
}
cudaError_t cudaMalloc(void **p, size_t n)
{
    std::lock_guard<std::mutex> g(lock);
    *p = nullptr;
    if (sticky)
        return sticky;
    if (alloc_fault.now() || used + n > pretended() || posix_memalign(p, 256, n ? n : 1)) {
        *p = nullptr;
        return cudaErrorMemoryAllocation;
    }
    memset(*p, 0x5a, n); // nothing may rely on zeroed memory
    blocks[*p] = n;
    used += n;
    return cudaSuccess;
}
cudaError_t cudaFree(void *p)
{
    std::lock_guard<std::mutex> g(lock);
    if (!p)
        return cudaSuccess;
    auto it = blocks.find(p);
    if (it == blocks.end())
        return cudaErrorInvalidValue;
    used -= it->second;
    blocks.erase(it);
    free(p);
    return sticky;
}
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned)
{
    *p = malloc(n ? n : 1);
    return *p ? sticky : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return sticky;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    std::lock_guard<std::mutex> g(lock);
    *total = pretended();
    *free_bytes = pretended() - used;
    return sticky;
}
cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, cudaMemcpyKind, cudaStream_t)
{
    if (!sticky && n)
        memmove(d, s, n);
    return sticky;
}
cudaError_t cudaMemsetAsync(void *d, int v, size_t n, cudaStream_t)
{
    if (!sticky && n)
        memset(d, v, n);
    return sticky;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
    *s = nullptr;
    return sticky;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(s, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return sticky;
}
cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return sticky;
}
cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return sticky;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return sticky;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
    *e = nullptr;
    return sticky;
}
cudaError_t cudaEventDestroy(cudaEvent_t)
{
    return sticky;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
    return sticky;
}
cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return sticky;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 0;
    return sticky;
}
cudaError_t cudaGetLastError()
{
    cudaError_t e = pending ? pending : sticky;
    pending = cudaSuccess;
    return e;
}
bool emu_launch_allowed()
{
    std::lock_guard<std::mutex> g(lock);
    if (launch_fault.now())
        sticky = cudaErrorIllegalAddress;

    return !sticky;
}

// ---- blocks whose threads wait for each other ----
namespace
{
constexpr size_t STACK = 128 << 10;
struct fiber_block {
    ucontext_t scheduler;
    std::vector<ucontext_t> fibers;
    std::vector<char> done;
    unsigned running;
    void (*body)(void *);
    void *ctx;
};
thread_local fiber_block *block;
thread_local std::vector<char> stacks;
thread_local std::vector<uint4> shared_memory;
void fiber_main()
{
    block->body(block->ctx);
    block->done[block->running] = 1;
    swapcontext(&block->fibers[block->running], &block->scheduler);
}
} // namespace
void *emu_shared()
{
    return shared_memory.data();
}
void __syncthreads()
{
    if (!block)
        return;
    swapcontext(&block->fibers[block->running], &block->scheduler);
}
void emu_run_block(unsigned threads, size_t shared, void (*body)(void *), void *ctx)
{
    fiber_block b;
    b.fibers.resize(threads);
    b.done.assign(threads, 0);
    b.body = body;
    b.ctx = ctx;
    if (stacks.size() < threads * STACK)
        stacks.resize(threads * STACK);
    shared_memory.assign(shared / 16 + 1, uint4{0xdead, 0xdead, 0xdead, 0xdead});
    block = &b;
    for (unsigned t = 0; t < threads; t++) {
        getcontext(&b.fibers[t]);
        b.fibers[t].uc_stack.ss_sp = stacks.data() + t * STACK;
        b.fibers[t].uc_stack.ss_size = STACK;
        b.fibers[t].uc_link = &b.scheduler;
        makecontext(&b.fibers[t], fiber_main, 0);
    }
    for (bool any = true; any;) {
        any = false;
        for (unsigned t = 0; t < threads; t++)
            if (!b.done[t]) {
                b.running = t;
                threadIdx.x = t;
                swapcontext(&b.scheduler, &b.fibers[t]);
                any = true;
            }
    }
    block = nullptr;
}
