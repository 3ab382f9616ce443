#include "quant/kernels.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <vector>

#include "core/cpu/cpu.h"
#include "core/system/thread_clock.h"
#include "quant/kernel_sets.h"
#include "quant/multiply.h"

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
#if LOREKEEP_AMX
          {&kAmxInt8Kernels, kAvx512 | kAvx512Vnni | kAmxInt8, amx_int8_permitted},
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

const QuantKernels& faster_kernels(const QuantKernels& usual, const QuantKernels& other, double (*clock)() noexcept) {
  constexpr std::size_t kRows = 64, kOutputs = 128, kInputs = 512;  // some 30 µs
  constexpr int kRounds = 6;
  constexpr double kBetter = 0.95;
  const std::vector<std::byte> file(kOutputs * row_bytes(Format::kQ8_0, kInputs));
  const PackedMatrix matrix = PackedMatrix::pack(Format::kQ8_0, file, kOutputs, kInputs, {});
  const std::vector<float> values(kRows * kInputs);
  std::vector<float> out(kRows * kOutputs);
  Activations activations;
  activations.reset(values.data(), kInputs, kInputs, kRows);
  activations.quantize(0, kRows, usual);
  const auto seconds = [&](const QuantKernels& kernels) {
    const double begin = clock();
    multiply(matrix, activations, {0, kRows}, {0, kOutputs}, out.data(), kOutputs, kernels);
    return clock() - begin;
  };
  double least_usual = std::numeric_limits<double>::infinity();
  double least_other = least_usual;
  for (int i = 0; i < kRounds; ++i) {
    least_usual = std::min(least_usual, seconds(usual));
    least_other = std::min(least_other, seconds(other));
  }
  return least_other < kBetter * least_usual ? other : usual;
}

const QuantKernels& best_kernels() noexcept {
  static const QuantKernels& best = []() -> const QuantKernels& {
    const auto sets = usable().all();
#if LOREKEEP_AMX
    if (sets.back() == &kAmxInt8Kernels) {
      try {
        return faster_kernels(*sets[sets.size() - 2], kAmxInt8Kernels, thread_seconds);
      } catch (const std::exception&) {  // no memory
        return *sets[sets.size() - 2];
      }
    }
#endif
    return *sets.back();
  }();
  return best;
}

}  // namespace lorekeep::quant
