#include "vector/distance.h"

#include <array>
#include <cstdlib>

#include "vector/distance_sets.h"

namespace lorekeep::vector {
namespace {

struct Available {
  std::array<const Kernels*, 5> sets{};
  std::size_t count = 0;

  Available() {
    add(kScalarKernels);
#if LOREKEEP_X86_KERNELS
    __builtin_cpu_init();  // the checks include that the operating system saves the registers
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl");
    if (avx2) add(kAvx2Kernels);
    if (avx512) add(kAvx512Kernels);
    if (avx512 && __builtin_cpu_supports("avx512vnni")) add(kAvx512VnniKernels);
#elif LOREKEEP_NEON_KERNELS
    add(kNeonKernels);
#endif
  }
  void add(const Kernels& set) { sets[count++] = &set; }
};

const Available& available() noexcept {
  static const Available found;
  return found;
}

const Kernels& choose() noexcept {
  if (const char* wanted = std::getenv("LOREKEEP_KERNELS")) {
    if (const Kernels* named = kernels_named(wanted)) return *named;
  }
  return *available_kernels().back();
}

}  // namespace

std::span<const Kernels* const> available_kernels() noexcept {
  return std::span(available().sets).first(available().count);
}

const Kernels* kernels_named(std::string_view name) noexcept {
  for (const Kernels* set : available_kernels()) {
    if (name == set->name) return set;
  }
  return nullptr;
}

const Kernels& kernels() noexcept {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace lorekeep::vector
