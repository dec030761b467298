// 32-bit carry chains. On the device each is one PTX instruction that reads or writes the carry flag; on the
// host the flag is a variable, so that the same field code is tested without a GPU.
//
// A chain must not be interrupted: between an instruction that sets the flag and the one that reads it there
// may be no other arithmetic on the flag.
#pragma once
#include "rt.cuh"

namespace gpu
{
#ifdef __CUDA_ARCH__
#define CHAIN2(name, op)                                                                                     \
    HD uint32_t name(uint32_t a, uint32_t b)                                                                 \
    {                                                                                                        \
        uint32_t r;                                                                                          \
        asm volatile(op " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                                          \
        return r;                                                                                            \
    }
#define CHAIN3(name, op)                                                                                     \
    HD uint32_t name(uint32_t a, uint32_t b, uint32_t c)                                                     \
    {                                                                                                        \
        uint32_t r;                                                                                          \
        asm volatile(op " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                              \
        return r;                                                                                            \
    }
CHAIN2(add_cc, "add.cc.u32")
CHAIN2(addc_cc, "addc.cc.u32")
CHAIN2(addc, "addc.u32")
CHAIN2(sub_cc, "sub.cc.u32")
CHAIN2(subc_cc, "subc.cc.u32")
CHAIN2(subc, "subc.u32")
CHAIN3(madlo_cc, "mad.lo.cc.u32")
CHAIN3(madclo_cc, "madc.lo.cc.u32")
CHAIN3(madchi_cc, "madc.hi.cc.u32")
#undef CHAIN2
#undef CHAIN3
#else
inline thread_local uint32_t carry_flag;
inline uint32_t chain_add(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t t = (uint64_t)a + b + c;
    carry_flag = (uint32_t)(t >> 32);
    return (uint32_t)t;
}
inline uint32_t chain_sub(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t t = (uint64_t)a - b - c;
    carry_flag = (uint32_t)(t >> 32) & 1;
    return (uint32_t)t;
}
HD uint32_t add_cc(uint32_t a, uint32_t b)
{
    return chain_add(a, b, 0);
}
HD uint32_t addc_cc(uint32_t a, uint32_t b)
{
    return chain_add(a, b, carry_flag);
}
HD uint32_t addc(uint32_t a, uint32_t b)
{
    return a + b + carry_flag;
}
HD uint32_t sub_cc(uint32_t a, uint32_t b)
{
    return chain_sub(a, b, 0);
}
HD uint32_t subc_cc(uint32_t a, uint32_t b)
{
    return chain_sub(a, b, carry_flag);
}
HD uint32_t subc(uint32_t a, uint32_t b)
{
    return a - b - carry_flag;
}
HD uint32_t madlo_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return chain_add(a * b, c, 0);
}
HD uint32_t madclo_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return chain_add(a * b, c, carry_flag);
}
HD uint32_t madchi_cc(uint32_t a, uint32_t b, uint32_t c)
{
    return chain_add((uint32_t)(((uint64_t)a * b) >> 32), c, carry_flag);
}
#endif

// acc[0 .. N-1] += (a[0], a[2], ...) * b, each product in two words; the carry out stays in the flag.
template <int N> HD void mad_row(uint32_t *acc, const uint32_t *a, uint32_t b)
{
    acc[0] = madlo_cc(a[0], b, acc[0]);
    acc[1] = madchi_cc(a[0], b, acc[1]);
    UNROLL for (int j = 2; j < N; j += 2)
    {
        acc[j] = madclo_cc(a[j], b, acc[j]);
        acc[j + 1] = madchi_cc(a[j], b, acc[j + 1]);
    }
}
} // namespace gpu
