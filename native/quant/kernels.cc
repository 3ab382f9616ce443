#include "quant/kernels.h"

#include "core/cpu.h"
#include "quant/kernel_sets.h"

namespace lorekeep::quant {
namespace {

const KernelSets<QuantKernels, 8>& usable() noexcept {
  static const KernelSets<QuantKernels, 8> sets(
      {
          {&kScalarKernels, 0},
#if LOREKEEP_X86_QUANT
          {&kAvx2Kernels, kAvx2},
          {&kAvxVnniKernels, kAvx2 | kAvxVnni},
          {&kAvx512Kernels, kAvx512},
          {&kAvx512VnniKernels, kAvx512 | kAvx512Vnni},
#endif
#if LOREKEEP_NEON_QUANT
          {&kNeonKernels, kNeonDot},
#endif
      },
      usable_features());
  return sets;
}

}  // namespace

std::span<const QuantKernels* const> available_kernels() noexcept {
  return usable().all();
}

const QuantKernels* kernels_named(std::string_view name) noexcept {
  return usable().named(name);
}

const QuantKernels& best_kernels() noexcept {
  return *usable().all().back();
}

}  // namespace lorekeep::quant
