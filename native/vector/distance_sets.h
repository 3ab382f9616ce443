// The kernel sets, only for distance.cc. Functions select their instruction set by attribute. Compiler flags per file
// would also apply to inline functions of other headers, and the linker may keep those copies: an AVX-512 std::vector
// on a CPU without AVX-512.
#pragma once

#include "vector/distance.h"

#if defined(__GNUC__)
// A set that lacks a function does not compile.
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#endif

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#define LOREKEEP_X86_KERNELS 1
#else
#define LOREKEEP_X86_KERNELS 0
#endif
#if defined(__aarch64__) && defined(__ARM_NEON)
#define LOREKEEP_NEON_KERNELS 1
#else
#define LOREKEEP_NEON_KERNELS 0
#endif

namespace lorekeep::vector {

extern const DistanceKernels kScalarKernels;
extern const DistanceKernels kAvx2Kernels;        // AVX2, FMA, F16C
extern const DistanceKernels kAvx512Kernels;      // AVX-512 F, BW, VL; i8 as in AVX2
extern const DistanceKernels kAvx512VnniKernels;  // the same with VNNI for i8
extern const DistanceKernels kNeonKernels;        // ARMv8-A

std::int32_t dot_i8_avx2(const std::int8_t* query, const std::int8_t* row, std::size_t length);
void dot4_i8_avx2(const std::int8_t* query, const std::int8_t* const rows[4], std::size_t length, std::int32_t out[4]);
std::size_t pick_scalar(const float* bounds, std::size_t count, float furthest, std::uint32_t* picked) noexcept;
std::size_t pick_avx2(const float* bounds, std::size_t count, float furthest, std::uint32_t* picked) noexcept;
std::size_t pick_avx512(const float* bounds, std::size_t count, float furthest, std::uint32_t* picked) noexcept;
void estimate_sketches_avx2(const SketchTask& task, const std::uint32_t* places, const float* centre_distances,
                            std::size_t count, float* likely, float* lower_bounds) noexcept;
void estimate_sketches_neon(const SketchTask& task, const std::uint32_t* places, const float* centre_distances,
                            std::size_t count, float* likely, float* lower_bounds) noexcept;
void estimate_sketches_avx512(const SketchTask& task, const std::uint32_t* places, const float* centre_distances,
                              std::size_t count, float* likely, float* lower_bounds) noexcept;

}  // namespace lorekeep::vector
