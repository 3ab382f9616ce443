// The reference that every other set must agree with.
#include <algorithm>
#include <cmath>

#include "core/cpu/bf16.h"
#include "encoder/kernel_sets.h"

namespace lorekeep::encoder {
namespace {

template <class T, class Product>
void gemm(const Gemm<T>& g, Product&& product) {
  for (std::size_t m = 0; m < g.rows; ++m) {
    for (std::size_t n = 0; n < g.panels * kLanes; ++n) {
      float sum = 0;
      for (std::size_t k = 0; k < g.depth; ++k) sum += product(m, n, k);
      float& c = g.c[m * g.c_stride + n];
      c = sum + (g.bias == nullptr ? 0.0f : g.bias[n]) + (g.accumulate ? c : 0.0f);
    }
  }
}

void gemm_f32(const Gemm<float>& g) {
  gemm(g, [&](std::size_t m, std::size_t n, std::size_t k) {
    return g.a[m * g.a_stride + k] * g.b[n / kLanes * g.panel_stride + k * g.step_stride + n % kLanes];
  });
}

void gemm_bf16(const Gemm<std::uint16_t>& g) {
  gemm(g, [&](std::size_t m, std::size_t n, std::size_t k) {
    const std::size_t pair = n / kLanes * g.panel_stride + k / 2 * 2 * kLanes;
    return from_bf16(g.a[m * g.a_stride + k]) * from_bf16(g.b[pair + n % kLanes * 2 + k % 2]);
  });
}

void round_bf16(const float* from, std::uint16_t* to, std::size_t count) {
  std::transform(from, from + count, to, to_bf16);
}

void gemm_q8(const GemmQ8& g) {
  for (std::size_t m = 0; m < g.rows; ++m) {
    for (std::size_t n = 0; n < g.panels * kLanes; ++n) {
      float sum = 0;
      for (std::size_t block = 0; block < g.blocks; ++block) {
        const Q8Panel& panel = g.b[n / kLanes * g.blocks + block];
        const Q8Input& a = g.a[m * g.blocks + block];
        std::int32_t products = 0;
        for (std::size_t k = 0; k < kQ8Block; ++k)
          products += (a.quants[k] - kQ8Zero) * panel.quants[k / kQ8Group][n % kLanes][k % kQ8Group];
        sum += static_cast<float>(products) * (a.scale * panel.scale[n % kLanes]);
      }
      float& c = g.c[m * g.panels * kLanes + n];
      c = sum + g.bias[n] + (g.accumulate ? c : 0.0f);
    }
  }
}

void quantize_q8(const float* from, Q8Input* to, std::size_t blocks) {
  for (std::size_t block = 0; block < blocks; ++block, from += kQ8Block, ++to) {
    float largest = 0;
    for (std::size_t k = 0; k < kQ8Block; ++k) largest = std::max(largest, std::abs(from[k]));
    const float inverse = largest == 0 ? 0 : kMaxQuant / largest;
    for (std::size_t k = 0; k < kQ8Block; ++k)
      to->quants[k] = static_cast<std::uint8_t>(std::lrint(from[k] * inverse) + kQ8Zero);
    to->scale = largest / kMaxQuant;
  }
}

void gelu(float* values, std::size_t count) {
  constexpr float kTwiceRoot = 1.5957691216057308f;  // 2 sqrt(2 / pi)
  for (std::size_t i = 0; i < count; ++i) {
    const float x = values[i];
    values[i] = x / (1 + std::exp(-kTwiceRoot * (x + 0.044715f * x * x * x)));
  }
}

void layer_norm(float* row, const float* weight, const float* bias, std::size_t count, float epsilon) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += row[i];
  const double mean = sum / static_cast<double>(count);
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) squares += (row[i] - mean) * (row[i] - mean);
  const double scale = 1 / std::sqrt(squares / static_cast<double>(count) + epsilon);
  for (std::size_t i = 0; i < count; ++i) row[i] = static_cast<float>((row[i] - mean) * scale) * weight[i] + bias[i];
}

void softmax(float* row, std::size_t count, float scale) {
  const float largest = *std::max_element(row, row + count);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += row[i] = std::exp(scale * (row[i] - largest));
  for (std::size_t i = 0; i < count; ++i) row[i] /= sum;
}

}  // namespace

const EncoderKernels kScalarKernels{
    .name = "scalar",
    .precision = Precision::kF32,
    .gemm_f32 = gemm_f32,
    .gemm_bf16 = gemm_bf16,
    .round_bf16 = round_bf16,
    .gemm_q8 = gemm_q8,
    .quantize_q8 = quantize_q8,
    .gelu = gelu,
    .layer_norm = layer_norm,
    .softmax = softmax,
};

}  // namespace lorekeep::encoder
