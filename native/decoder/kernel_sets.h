// The kernel sets of kernels.h. Internal to native/decoder.
#pragma once

#include "decoder/kernels.h"

#if defined(__GNUC__)
// A set that lacks a function does not compile.
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#define LOREKEEP_X86_DECODER 1
#else
#define LOREKEEP_X86_DECODER 0
#endif
#if defined(__aarch64__) && defined(__ARM_NEON) && defined(__GNUC__)
#define LOREKEEP_NEON_DECODER 1
#else
#define LOREKEEP_NEON_DECODER 0
#endif

namespace lorekeep::decoder {

extern const DecoderKernels kScalarKernels;
#if LOREKEEP_X86_DECODER
extern const DecoderKernels kAvx2Kernels;
extern const DecoderKernels kAvxVnniKernels;
extern const DecoderKernels kAvx512Kernels;
extern const DecoderKernels kAvx512VnniKernels;
#endif
#if LOREKEEP_NEON_DECODER
extern const DecoderKernels kNeonKernels;
#endif

}  // namespace lorekeep::decoder
