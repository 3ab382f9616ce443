// The kernel sets of kernels.h. Internal to native/encoder.
#pragma once

#include "core/cpu/amx_tiles.h"
#include "encoder/kernels.h"

#if defined(__GNUC__)
// A set that lacks a function does not compile.
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#define LOREKEEP_X86_ENCODER 1
#else
#define LOREKEEP_X86_ENCODER 0
#endif

namespace lorekeep::encoder {

extern const EncoderKernels kScalarKernels;
#if LOREKEEP_X86_ENCODER
extern const EncoderKernels kAvx2Kernels;
extern const EncoderKernels kAvx512Kernels;
extern const EncoderKernels kAvx512Bf16Kernels;
extern const EncoderKernels kAvx512VnniKernels;
/// Tiles for AVX-512: 20 sums, 2 panels and a value in 32 registers. 12 rows would fit too, but were 2 to 8 % slower in
/// bf16 on Zen 4 (105 instead of 113 products per nanosecond at a depth of 1,536).
inline constexpr int kTileRows = 10;
inline constexpr int kTilePanels = 2;
void gemm_bf16_avx512(const Gemm<std::uint16_t>& gemm);
void gemm_q8_vnni(const GemmQ8& gemm);
void quantize_q8_avx512(const float* from, Q8Input* to, std::size_t blocks);
#endif
#if LOREKEEP_AMX
extern const EncoderKernels kAmxBf16Kernels;
/// Configures the tiles of the calling thread, and restores them afterwards.
void gemm_bf16_amx(const Gemm<std::uint16_t>& gemm);
/// Returns whether gemm_bf16_amx() is right in a product that uses every kind of tile: two of rows, the second partial;
/// two panels; a partial last step.
bool amx_bf16_product_is_right() noexcept;
/// Returns amx_permitted() of this trial, determined once.
bool amx_bf16_permitted() noexcept;
#endif

}  // namespace lorekeep::encoder
