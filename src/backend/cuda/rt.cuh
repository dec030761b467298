// What every file of the back end needs of the CUDA runtime, and the macros that let the same files be
// compiled for the host: tests/emu runs kernels one thread after the other, so that all but the speed is
// tested without a GPU.
#pragma once
#include <algorithm>
#include <new>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <utility>
#include <vector>
#ifdef __CUDACC__
#include <cuda_runtime.h>
#define GPU_LAUNCH(kernel, grid, block, shared, stream, ...)                                                 \
    (kernel)<<<(unsigned)(grid), (unsigned)(block), (size_t)(shared), (stream)>>>(__VA_ARGS__)
// For kernels whose threads wait for each other; the emulation needs to know.
#define GPU_LAUNCH_SYNC          GPU_LAUNCH
#define GPU_DYNAMIC_SHARED(name) extern __shared__ uint4 name[]
#else
#include "cuda_emu.h"
#define GPU_DYNAMIC_SHARED(name) uint4 *name = (uint4 *)emu_shared()
#endif
// Inlined without question on the device only: the host compiler takes minutes over code that runs there once
// a proof.
#ifdef __CUDA_ARCH__
#define HD     __host__ __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#else
#define HD __host__ __device__ inline
#define UNROLL
#endif
