#include "encoder/linear.h"

#include <cmath>
#include <random>
#include <vector>

#include "harness.h"

namespace lorekeep::encoder {
namespace {

/// Returns weights; a fraction `share` of them is not zero.
std::vector<float> weights(std::size_t count, double share) {
  std::mt19937_64 random(test::seed());
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::bernoulli_distribution kept(share);
  std::vector<float> values(count);
  for (float& value : values) value = kept(random) ? uniform(random) : 0.0f;
  return values;
}

TEST("a matrix times rows is its definition: dense and nearly empty, f32, bf16 and 8 bits, stored and added") {
  constexpr std::size_t kInputs = 64;
  constexpr std::size_t kOutputs = 48;
  constexpr std::size_t kRows = 110;  // more than are rounded at a time
  const auto in = weights(kRows * kInputs, 1);
  const auto bias = weights(kOutputs, 1);
  for (double share : {1.0, 0.5, 0.02, 0.0}) {
    const auto matrix = weights(kInputs * kOutputs, share);
    for (Precision precision : {Precision::kF32, Precision::kBf16, Precision::kQ8}) {
      const Linear linear(matrix, bias, kInputs, kOutputs, precision);
      for (const EncoderKernels* set : available_kernels()) {
        if (precision == Precision::kBf16 && set->gemm_bf16 == nullptr) continue;
        if (precision == Precision::kQ8 && set->gemm_q8 == nullptr) continue;
        for (bool accumulate : {false, true}) {
          Buffer<std::byte> scratch;
          std::vector<float> out(kRows * kOutputs, 2.0f);
          linear.apply(*set, in.data(), kRows, out.data(), accumulate, scratch);
          // Few weights are never rounded.
          const double tolerance = precision != Precision::kF32 && share > 0.1 ? 0.08 : 1e-5;
          for (std::size_t i = 0; i < out.size(); ++i) {
            double expected = bias[i % kOutputs] + (accumulate ? 2.0 : 0.0);
            for (std::size_t k = 0; k < kInputs; ++k)
              expected += double{in[i / kOutputs * kInputs + k]} * matrix[i % kOutputs * kInputs + k];
            if (std::abs(expected - out[i]) > tolerance) CHECK_NEAR(out[i], expected, tolerance);
          }
        }
      }
    }
  }
}

TEST("a matrix without a bias has one of zeros") {
  const Linear linear(weights(32 * 16, 1), {}, 32, 16, Precision::kF32);
  const std::vector<float> in(32, 0.0f);
  std::vector<float> out(16, 1.0f);
  Buffer<std::byte> scratch;
  linear.apply(*available_kernels().back(), in.data(), 1, out.data(), false, scratch);
  CHECK(out == std::vector<float>(16, 0.0f));
}

}  // namespace
}  // namespace lorekeep::encoder
