#include "decoder/kernels.h"

#include "core/cpu.h"
#include "decoder/kernel_sets.h"

namespace lorekeep::decoder {

std::span<const DecoderKernels* const> available_kernels() noexcept {
  static const KernelSets<DecoderKernels, 3> sets(
      {
          {&kScalarKernels, 0},
#if LOREKEEP_X86_DECODER
          {&kAvx2Kernels, kAvx2},
          {&kAvx512Kernels, kAvx512},
#endif
#if LOREKEEP_NEON_DECODER
          {&kNeonKernels, kNeon},
#endif
      },
      usable_features());
  return sets.all();
}

}  // namespace lorekeep::decoder
