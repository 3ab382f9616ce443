#include "decoder/kernels.h"

#include "core/cpu/cpu.h"
#include "decoder/kernel_sets.h"

namespace lorekeep::decoder {

std::span<const DecoderKernels* const> available_kernels() noexcept {
  static const KernelSets<DecoderKernels, 6> sets(
      {
          {&kScalarKernels, 0},
#if LOREKEEP_X86_DECODER
          {&kAvx2Kernels, kAvx2},
          {&kAvxVnniKernels, kAvx2 | kAvxVnni},
          {&kAvx512Kernels, kAvx512},
          {&kAvx512VnniKernels, kAvx512 | kAvx512Vnni},
#endif
#if LOREKEEP_NEON_DECODER
          {&kNeonKernels, kNeon},
#endif
      },
      usable_features());
  return sets.all();
}

}  // namespace lorekeep::decoder
