// The sets behind kernels.h. Internal to native/quant.
#pragma once

#include "quant/kernels.h"

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

extern const QuantKernels kScalarKernels;
#if LOREKEEP_X86_QUANT
extern const QuantKernels kAvx2Kernels;
extern const QuantKernels kAvxVnniKernels;
extern const QuantKernels kAvx512Kernels;
extern const QuantKernels kAvx512VnniKernels;
void quantize_avx2(const float* from, ActivationBlock* to, std::size_t blocks) noexcept;
void quantize_avx512(const float* from, ActivationBlock* to, std::size_t blocks) noexcept;
#endif
#if LOREKEEP_NEON_QUANT
extern const QuantKernels kNeonKernels;
#endif

}  // namespace lorekeep::quant
