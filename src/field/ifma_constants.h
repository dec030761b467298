/* Written by scripts/generate_ifma.py; do not edit. Numbers in limbs of 52 bits, the lowest first. */
#ifndef FIELD_IFMA_CONSTANTS_H
#define FIELD_IFMA_CONSTANTS_H
/* clang-format off */
#include <stdint.h>

/* p */
static const uint64_t FP52_P[8] __attribute__((aligned(64), unused)) = {
    0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
    0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x1a011,
};
/* p in words of 64 bits */
static const uint64_t FP52_P_WORDS[6] __attribute__((aligned(64), unused)) = {
    0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624, 0x64774b84f38512bf,
    0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a,
};
/* -1 / p mod 2^52 */
#define FP52_N0 UINT64_C(0x3fffcfffcfffd)
/* row i: 2^(-52 (7 - i)) mod p, what limb i of a product weighs at limb 7 */
static const uint64_t FP52_FOLD[56] __attribute__((aligned(64), unused)) = {
    0x980b8d05306fe, 0xdf6bcad588b49, 0x8bda1008b566c, 0x496a7b8706d11,
    0xd49eb4fa32046, 0x4e5f5d1328fd9, 0xf6c3db4460a40, 0x1ab6,
    0x1e154a323ce88, 0xd61b2cc0c1cbf, 0x932cac668dbfc, 0x8e53d0ac8c838,
    0x65eb99aaea739, 0x8eaff4f1222a1, 0x5825fb3142701, 0x12311,
    0x6943cdf9a2659, 0x7c3c74aaf22e9, 0x9048df1e16e1c, 0x83e1e4dadac49,
    0xfd41fff5915dd, 0x71e8b255b3c49, 0xb794823a43631, 0xd2aa,
    0xe3ab5ec367b1a, 0x7c3892beb8538, 0xf7dcb064e43e0, 0x97151e93d48f0,
    0xc1a5e870900dc, 0x4aa4512784dfb, 0x4f91407fd7be8, 0x1646a,
    0xd3e1080085afc, 0x7888869fbc7a3, 0xebf4b49b83077, 0x5f1a16fcfbcef,
    0x5bbade978d8d8, 0x27a3a63d14d97, 0xa794aa1b82d11, 0xe718,
    0x121b460e631b7, 0x835ef255e8f2f, 0x49d7621ca5f48, 0x496dd31acc2eb,
    0xa5cb88ded3e82, 0x9b6e94a51782f, 0xc5ca9a937da06, 0xeeab,
    0x4be07d2027cb, 0xd7786e39002d4, 0xf51047083c4dd, 0x96079a7670223,
    0x4ca513044b79, 0x6615d3780ea11, 0xf9a5623d6a279, 0x6803,
};
/* e0 .. e3, e0 - e1, e2 - e3: see fp52_fold_halves */
static const uint64_t FP52_FOLD_HALVES[12] __attribute__((aligned(64), unused)) = {
    0xf3ab5ec36d06f, 0x7d873ebeb8998, 0x7332b1dd06820, 0x7baa489cfe11e,
    0x4b5e73b840d58, 0x2efc9ae43932e, 0xcf12577e91e63, 0x3ba6,
    0x8078ace66684f, 0x1dcf621ba87a, 0x7c4c1c39aeef5, 0x2efc9ae435787,
};
/* -p, limb by limb */
static const uint64_t FP52_P_NEGATIVE[8] __attribute__((aligned(64), unused)) = {
    0xfff1000000005555, 0xfff014eac0000461, 0xfff94f09dbe15401, 0xfffed4098cf2d5f1,
    0xfff89b88b47b0c7b, 0xfffe45849bcb4533, 0xfffe15c6801965b5, 0xfffffffffffe5fef,
};
/* row k: k p, for k < 10 */
static const uint64_t FP52_MULTIPLES[80] __attribute__((aligned(64), unused)) = {
    0x0, 0x0, 0x0, 0x0,
    0x0, 0x0, 0x0, 0x0,
    0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
    0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x1a011,
    0xdffffffff5556, 0xfd62a7ffff73f, 0xd61ec483d57ff, 0x257ece61a541e,
    0xec8ee9709e70a, 0x374f6c869759a, 0x3d472ffcd3496, 0x34022,
    0xcffffffff0001, 0xfc13fbffff2df, 0x412e26c5c03ff, 0x383e359277e2e,
    0x62d65e28eda8f, 0x52f722c9e3068, 0x5beac7fb3cee1, 0x4e033,
    0xbfffffffeaaac, 0xfac54ffffee7f, 0xac3d8907aafff, 0x4afd9cc34a83d,
    0xd91dd2e13ce14, 0x6e9ed90d2eb35, 0x7a8e5ff9a692c, 0x68044,
    0xafffffffe5557, 0xf976a3fffea1f, 0x174ceb4995bff, 0x5dbd03f41d24d,
    0x4f6547998c199, 0x8a468f507a603, 0x9931f7f810377, 0x82055,
    0x9fffffffe0002, 0xf827f7fffe5bf, 0x825c4d8b807ff, 0x707c6b24efc5c,
    0xc5acbc51db51e, 0xa5ee4593c60d0, 0xb7d58ff679dc2, 0x9c066,
    0x8fffffffdaaad, 0xf6d94bfffe15f, 0xed6bafcd6b3ff, 0x833bd255c266b,
    0x3bf4310a2a8a3, 0xc195fbd711b9e, 0xd67927f4e380d, 0xb6077,
    0x7fffffffd5558, 0xf58a9ffffdcff, 0x587b120f55fff, 0x95fb39869507b,
    0xb23ba5c279c28, 0xdd3db21a5d66b, 0xf51cbff34d258, 0xd0088,
    0x6fffffffd0003, 0xf43bf3fffd89f, 0xc38a745140bff, 0xa8baa0b767a8a,
    0x28831a7ac8fad, 0xf8e5685da9139, 0x13c057f1b6ca3, 0xea09a,
};
/* 2^416 mod p */
static const uint64_t FP52_ONE[8] __attribute__((aligned(64), unused)) = {
    0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422,
    0xa6723e5f0ade5, 0xff6eb6fdd4230, 0xe06ef23c24a25, 0x14c8e,
};
/* 2^428 mod p: what a Montgomery inverse of blst is multiplied by, see lanes_ifma.h */
static const uint64_t FP52_INVERSE[8] __attribute__((aligned(64), unused)) = {
    0x9ea8e9fddebbd, 0x1d9e0a47ce674, 0x794f6cad2ca68, 0x3d64a09f36995,
    0xec52a8410e356, 0x58369adfabd89, 0x35917e957b5b2, 0x17326,
};
/* 2^448 mod p: from radix 2^384 to 2^416 */
static const uint64_t FP52_FROM_BLST[8] __attribute__((aligned(64), unused)) = {
    0x7fde37dba9366, 0x4e27525bc342b, 0x1f5b1e9778489, 0xb872b2b91b9dc,
    0xb206f497dfcaf, 0x4137cc89a9b0b, 0xd9d20d7e39959, 0x411c,
};
/* 2^800 mod p: from plain numbers to radix 2^384 */
static const uint64_t FP52_DECODE[8] __attribute__((aligned(64), unused)) = {
    0x551039a1d2c25, 0xc857a984373dc, 0x3331128e8da66, 0xba38b82e8f651,
    0xbb197b6252a29, 0xcbe4f4e32928c, 0x80ef81f158c5d, 0xe91f,
};
/* 2^352 mod p: blst_fp_mul by it goes from radix 2^416 to 2^384 */
static const uint64_t FP52_TO_BLST[6] __attribute__((aligned(64), unused)) = {
    0x0, 0x0, 0x0, 0x0,
    0x0, 0x100000000,
};
/* 2^356 mod p: blst_fp_mul by it divides by 2^28 */
static const uint64_t FP52_X_OUT[6] __attribute__((aligned(64), unused)) = {
    0x0, 0x0, 0x0, 0x0,
    0x0, 0x1000000000,
};
/* the multiple of p above (10 p)^2 / 2^364 */
static const uint64_t FP52_SHORT_LIFT[8] __attribute__((aligned(64), unused)) = {
    0xfffc9d350d790, 0x13e1938e89594, 0xd5b89bb1d6b87, 0x607fc9ad2bc5f,
    0x94dad9d14f06c, 0x234a6b40cd262, 0xe106846d4e43e, 0x10825bc6554,
};
/* 12 p: p more than Y_ADD */
static const uint64_t FP52_Y_LIFT[8] __attribute__((aligned(64), unused)) = {
    0x3fffffffc0004, 0xf04feffffcb7f, 0x4b89b1700fff, 0xe0f8d649df8b9,
    0x8b5978a3b6a3c, 0x4bdc8b278c1a1, 0x6fab1fecf3b85, 0x1380cd,
};
/* 268435466 p */
static const uint64_t FP52_X_TURN[8] __attribute__((aligned(64), unused)) = {
    0x5faaaaffcaaae, 0xf2e8e7effd43f, 0x4d45d691dcd3f, 0xc8a4175349abe,
    0x23be1445d79a5, 0x4947ec173c352, 0x18fe3b0bc8253, 0x1a0111fa7a2b,
};
/* 134217728 p */
static const uint64_t FP52_X_HALF[8] __attribute__((aligned(64), unused)) = {
    0xffd5558000000, 0xfffdcff7fffff, 0xf55ffff58a9f, 0x869507b587b12,
    0xc279c2895fb39, 0x1a5d66bb23ba5, 0xf34d258dd3db2, 0xd0088f51cbf,
};
/* 311040724 p */
static const uint64_t FP52_X_BOUND[8] __attribute__((aligned(64), unused)) = {
    0xbf9d1fd3cb39c, 0x355c7e2a1fed2, 0xd2c21bec6335c, 0x61d45f0330d7,
    0x15f40abe2be8a, 0xeafeb7bb658e3, 0xcf7c3cb121a3a, 0x1e21a8fc5029,
};
/* 311040723 p */
static const uint64_t FP52_X_SUB[8] __attribute__((aligned(64), unused)) = {
    0xcf9d1fd3d08f1, 0x36ab2a2a20332, 0x67b2b9aa7875c, 0xf35ddebf606c8,
    0x9fac9605dcb04, 0xcf57017819e15, 0xb0d8a4b2b7fef, 0x1e21a8fab018,
};
/* 5 p */
static const uint64_t FP52_Y_NEG[8] __attribute__((aligned(64), unused)) = {
    0xafffffffe5557, 0xf976a3fffea1f, 0x174ceb4995bff, 0x5dbd03f41d24d,
    0x4f6547998c199, 0x8a468f507a603, 0x9931f7f810377, 0x82055,
};
/* 11 p */
static const uint64_t FP52_Y_ADD[8] __attribute__((aligned(64), unused)) = {
    0x4fffffffc5559, 0xf19e9bfffcfdf, 0x99a938d5163ff, 0xce396f190cea9,
    0x151203eb676b7, 0x3034d4e4406d4, 0x510787ee8a13a, 0x11e0bc,
};
/* 10 p */
static const uint64_t FP52_Y_SUB[8] __attribute__((aligned(64), unused)) = {
    0x5fffffffcaaae, 0xf2ed47fffd43f, 0x2e99d6932b7ff, 0xbb7a07e83a49a,
    0x9eca8f3318332, 0x148d1ea0f4c06, 0x3263eff0206ef, 0x1040ab,
};
/* 4 p */
static const uint64_t FP52_4P[8] __attribute__((aligned(64), unused)) = {
    0xbfffffffeaaac, 0xfac54ffffee7f, 0xac3d8907aafff, 0x4afd9cc34a83d,
    0xd91dd2e13ce14, 0x6e9ed90d2eb35, 0x7a8e5ff9a692c, 0x68044,
};
/* 8 p */
static const uint64_t FP52_8P[8] __attribute__((aligned(64), unused)) = {
    0x7fffffffd5558, 0xf58a9ffffdcff, 0x587b120f55fff, 0x95fb39869507b,
    0xb23ba5c279c28, 0xdd3db21a5d66b, 0xf51cbff34d258, 0xd0088,
};
/* -X_ADD, limb by limb */
static const uint64_t FP52_X_LESS[8] __attribute__((aligned(64), unused)) = {
    0xfffc0706b58298cc, 0xfff8592939bbcdda, 0xfff7de0633cebe88, 0xfffe1e859d488d2e,
    0xfffe464e83a1e39c, 0xfffaa99e92708727, 0xfffb74cf1a658274, 0xffffddbdc00519fa,
};
/* half of it */
static const uint64_t FP52_X_LESS_HALF[8] __attribute__((aligned(64), unused)) = {
    0xfffe03835ac14c66, 0xfffc2c949cdde6ed, 0xfffbef0319e75f44, 0xffff0f42cea44697,
    0xfff7232741d0f1ce, 0xfffd54cf49384394, 0xfffdba678d32c13a, 0xffffeedee0028cfd,
};

/* r */
static const uint64_t FR52_R[5] __attribute__((aligned(64), unused)) = {
    0xfffff00000001, 0x2fffe5bfefff, 0x9a1d80553bda4, 0x7d483339d8080,
    0x73eda753299d,
};
/* r + 2^32 - 1, a multiple of 2^64 */
static const uint64_t FR52_K[5] __attribute__((aligned(64), unused)) = {
    0x0, 0x2fffe5bff000, 0x9a1d80553bda4, 0x7d483339d8080,
    0x73eda753299d,
};
/* -3 r, limb by limb */
static const uint64_t FR52_3R_NEGATIVE[5] __attribute__((aligned(64), unused)) = {
    0xfff00002fffffffd, 0xffff70004ec03001, 0xfff31a77f004c714, 0xfff8827665277e7f,
    0xfffea4370a068328,
};
/* 17 r */
static const uint64_t FR52_17R[5] __attribute__((aligned(64), unused)) = {
    0xfffef00000011, 0x32ffe41beefff, 0x3bf585a8f97e4, 0x51cb66d75888a,
    0x7b2c81c85c375,
};
/* the multiple of r next to (k + 1/2) 2^257, for -4 <= k < 4 modulo 8 */
static const uint64_t FR52_NEAR[40] __attribute__((aligned(64), unused)) = {
    0xffffe00000002, 0xffff900000007, 0xffff50000000b, 0xffff10000000f,
    0xfff0000efffffff1, 0xfff0000afffffff5, 0xfff00006fffffff9, 0xfff00001fffffffe,
    0x5fffcb7fdfff, 0x14fff483f8fff, 0x20ffedf3f4fff, 0x2cffe763f0fff,
    0xfffd300189c0f001, 0xfffdf00120c0b001, 0xfffeb000b7c07001, 0xffffa00034802001,
    0x343b00aa77b48, 0x36ce8254a2f7c, 0x9f4483a99260c, 0x7ba84fe81c9c,
    0xffff8457b017e364, 0xfff60bb7c566d9f4, 0xfffc9317dab5d084, 0xfffcbc4ff55884b8,
    0xfa906673b0101, 0x6cf96694e8384, 0x621a337c48586, 0x573b0063a8789,
    0xfffa8c4ff9c57877, 0xfff9de5cc83b7a7a, 0xfff9306996b17c7c, 0xfff056f998c4feff,
    0xe7db4ea6533a, 0x32b7f9346234e, 0x4fb363092c9c4, 0x6caeccddf703a,
    0xfff9351332208fc6, 0xfffb04c9cf6d363c, 0xfffcd4806cb9dcb2, 0xffff1824b159acc6,
};
/* the multiple of r below k 2^255, for k < 8 */
static const uint64_t FR52_BELOW[40] __attribute__((aligned(64), unused)) = {
    0x0, 0xfffff00000001, 0xffffe00000002, 0xffffd00000003,
    0xffffc00000004, 0xffffb00000005, 0xffffa00000006, 0xffff900000007,
    0x0, 0x2fffe5bfefff, 0x5fffcb7fdfff, 0x8fffb13fcfff,
    0xbfff96ffbfff, 0xefff7cbfafff, 0x11fff627f9fff, 0x14fff483f8fff,
    0x0, 0x9a1d80553bda4, 0x343b00aa77b48, 0xce5880ffb38ec,
    0x68760154ef690, 0x29381aa2b434, 0x9cb101ff671d8, 0x36ce8254a2f7c,
    0x0, 0x7d483339d8080, 0xfa906673b0101, 0x77d899ad88181,
    0xf520cce760202, 0x7269002138283, 0xefb1335b10303, 0x6cf96694e8384,
    0x0, 0x73eda753299d, 0xe7db4ea6533a, 0x15bc8f5f97cd8,
    0x1cfb69d4ca675, 0x243a4449fd013, 0x2b791ebf2f9b0, 0x32b7f9346234e,
};
/* 18 r, above 2^259 */
static const uint64_t FR52_18R[5] __attribute__((aligned(64), unused)) = {
    0xfffee00000012, 0x35ffe277edfff, 0xd61305fe35588, 0xcf139a113090a,
    0x826b5c3d8ed12,
};
/* 2^260 - r */
static const uint64_t FR52_LESS_R[5] __attribute__((aligned(64), unused)) = {
    0xffffffff, 0xfd0001a401000, 0x65e27faac425b, 0x82b7ccc627f7f,
    0xf8c1258acd662,
};
/* (18 r + 2^232 + 2^216) / 2^208, rounded up, and 1 */
#define FR52_18R_TOP UINT64_C(0x826b5c4d8ee14)
/* 2^(260 + 24) / r, rounded up */
#define FR52_QUOTIENT UINT64_C(0x2355094f)
/* 2^260 mod r */
static const uint64_t FR52_ONE[5] __attribute__((aligned(64), unused)) = {
    0x22ffffffdd, 0x9700396c23000, 0xedf77458d1293, 0xdf20ff1776e6a,
    0x26821fa14f77,
};
/* 2^520 mod r */
static const uint64_t FR52_SQUARE[5] __attribute__((aligned(64), unused)) = {
    0x99103f29c6cf0, 0x57927663d999e, 0xa1c0ed631138b, 0x3c829f7715f1b,
    0x9ff646cc027,
};
/* 2^264 mod r: from radix 2^256 to 2^260 */
static const uint64_t FR52_FROM_BLST[5] __attribute__((aligned(64), unused)) = {
    0x234fffffdcb, 0x61039ef635000, 0xdce3c3e2e7505, 0x7fa6f1563642b,
    0x247db575276a,
};
#endif
