// The sets behind kernels.h. Internal to native/encoder.
#pragma once

#include "encoder/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define LOREKEEP_X86_ENCODER 1
#else
#define LOREKEEP_X86_ENCODER 0
#endif

namespace lorekeep::encoder {

extern const Kernels kScalarKernels;
#if LOREKEEP_X86_ENCODER
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
extern const Kernels kAvx512Bf16Kernels;
/// Tiles of AVX-512: 24 sums, 2 panels and a value of the 32 registers.
inline constexpr int kTileRows = 12;
inline constexpr int kTilePanels = 2;
void gemm_bf16_avx512(const Gemm<std::uint16_t>& gemm);
#endif

}  // namespace lorekeep::encoder
