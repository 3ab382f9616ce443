#include "encoder/kernels.h"

#include "core/cpu/cpu.h"
#include "encoder/kernel_sets.h"

namespace lorekeep::encoder {
namespace {

const KernelSets<EncoderKernels, 6>& usable() noexcept {
  static const KernelSets<EncoderKernels, 6> sets(
      {
          {&kScalarKernels, 0},
#if LOREKEEP_X86_ENCODER
          {&kAvx2Kernels, kAvx2},
          {&kAvx512Kernels, kAvx512},
          {&kAvx512Bf16Kernels, kAvx512Bf16},
#endif
#if LOREKEEP_AMX
          {&kAmxBf16Kernels, kAmxBf16, amx_bf16_permitted},
#endif
#if LOREKEEP_X86_ENCODER
          {&kAvx512VnniKernels, kAvx512Vnni},
#endif
      },
      usable_features());
  return sets;
}

}  // namespace

std::span<const EncoderKernels* const> available_kernels() noexcept {
  return usable().all();
}

const EncoderKernels* kernels_named(std::string_view name) noexcept {
  return usable().named(name);
}

}  // namespace lorekeep::encoder
