// The kernel sets of kernels.h. Internal to native/quant.
#pragma once

#include "core/cpu/amx_tiles.h"
#include "quant/kernels.h"

#if defined(__GNUC__)
// A set that lacks a function does not compile.
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#define LOREKEEP_X86_QUANT 1
#else
#define LOREKEEP_X86_QUANT 0
#endif
#if defined(__aarch64__) && defined(__ARM_NEON) && defined(__GNUC__)
#define LOREKEEP_NEON_QUANT 1
#else
#define LOREKEEP_NEON_QUANT 0
#endif

namespace lorekeep::quant {

/// Returns `other` if it multiplies in clearly less time of `clock` than `usual`, else `usual`. Throws bad_alloc.
const QuantKernels& faster_kernels(const QuantKernels& usual, const QuantKernels& other, double (*clock)() noexcept);

extern const QuantKernels kScalarKernels;
#if LOREKEEP_X86_QUANT
extern const QuantKernels kAvx2Kernels;
extern const QuantKernels kAvxVnniKernels;
extern const QuantKernels kAvx512Kernels;
extern const QuantKernels kAvx512VnniKernels;
void quantize_avx2(const float* from, ActivationBlock* to, std::size_t blocks) noexcept;
void quantize_avx512(const float* from, ActivationBlock* to, std::size_t blocks) noexcept;
#endif
#if LOREKEEP_AMX
/// Configures the tiles of the calling thread, and restores them afterwards. Fewer than 16 rows are left to
/// kAvx512VnniKernels.
extern const QuantKernels kAmxInt8Kernels;
/// Returns whether a product of two tiles of rows, the second partial, and two panels equals the product of
/// kScalarKernels.
bool amx_int8_product_is_right() noexcept;
/// Returns amx_permitted() of this trial, determined once.
bool amx_int8_permitted() noexcept;
#endif
#if LOREKEEP_NEON_QUANT
extern const QuantKernels kNeonKernels;
#endif

}  // namespace lorekeep::quant
