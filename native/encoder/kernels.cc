#include "encoder/kernels.h"

#include <array>

#include "encoder/amx_permission.h"
#include "encoder/kernel_sets.h"

namespace lorekeep::encoder {
namespace {

struct Available {
  std::array<const Kernels*, 6> sets{};
  std::size_t count = 0;

  Available() {
    sets[count++] = &kScalarKernels;
#if LOREKEEP_X86_ENCODER
    __builtin_cpu_init();  // the checks include that the operating system saves the registers
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets[count++] = &kAvx2Kernels;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512) sets[count++] = &kAvx512Kernels;
    if (avx512 && __builtin_cpu_supports("avx512bf16")) sets[count++] = &kAvx512Bf16Kernels;
#endif
#if LOREKEEP_AMX_ENCODER
    if (avx512 && amx_permitted()) sets[count++] = &kAmxBf16Kernels;
#endif
#if LOREKEEP_X86_ENCODER
    if (avx512 && __builtin_cpu_supports("avx512vnni")) sets[count++] = &kAvx512VnniKernels;
#endif
  }
};

}  // namespace

std::span<const Kernels* const> available_kernels() noexcept {
  static const Available found;
  return std::span(found.sets).first(found.count);
}

const Kernels* kernels_named(std::string_view name) noexcept {
  for (const Kernels* set : available_kernels()) {
    if (name == set->name) return set;
  }
  return nullptr;
}

}  // namespace lorekeep::encoder
