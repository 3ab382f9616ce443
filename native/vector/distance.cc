#include "vector/distance.h"

#include "core/cpu/cpu.h"
#include "vector/distance_sets.h"

namespace lorekeep::vector {
namespace {

KernelSets<DistanceKernels, 5> sets_within(CpuFeatures features) noexcept {
  return {{
              {&kScalarKernels, 0},
#if LOREKEEP_X86_KERNELS
              {&kAvx2Kernels, kAvx2},
              {&kAvx512Kernels, kAvx512},
              {&kAvx512VnniKernels, kAvx512Vnni},
#elif LOREKEEP_NEON_KERNELS
              {&kNeonKernels, kNeon},
#endif
          },
          features};
}

const auto& available() noexcept {
  static const auto sets = sets_within(cpu_features());
  return sets;
}

}  // namespace

std::span<const DistanceKernels* const> available_kernels() noexcept {
  return available().all();
}

const DistanceKernels* kernels_named(std::string_view name) noexcept {
  return available().named(name);
}

const DistanceKernels& kernels() noexcept {
  static const DistanceKernels& chosen = *sets_within(usable_features()).all().back();
  return chosen;
}

}  // namespace lorekeep::vector
