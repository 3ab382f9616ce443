// The reference: every other set computes the same bits.
#include <algorithm>
#include <cmath>

#include "core/cpu/bf16.h"
#include "core/cpu/half.h"
#include "quant/kernel_sets.h"
#include "quant/unpack.h"

namespace lorekeep::quant {
namespace {

void quantize(const float* from, ActivationBlock* to, std::size_t blocks) noexcept {
  for (std::size_t block = 0; block < blocks; ++block, from += kBlock, ++to) {
    float largest = 0;
    for (std::size_t i = 0; i < kBlock; ++i) largest = std::max(largest, std::abs(from[i]));
    const float inverse = largest == 0 ? 0 : kMaxActivation / largest;
    std::int32_t half = 0;
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const float scaled = from[i] * inverse;
      // Not a number is not converted: C++ does not define the result.
      to->quants[i] = static_cast<std::int8_t>(std::abs(scaled) <= kMaxActivation + 1 ? std::lrint(scaled) : 0);
      sum += to->quants[i];
      if (i < kBlock / 2) half = sum;
    }
    to->set_sums(largest, half, sum);
  }
}

// Sum of products of the quants of steps `begin` to `end`, plus `sum`.
std::int32_t dot(const Unpacked& weights, std::size_t lane, const ActivationBlock& inputs, std::size_t begin,
                 std::size_t end, std::int32_t sum) noexcept {
  for (std::size_t k = begin * kStep; k < end * kStep; ++k)
    sum += weights.quants[k / kStep][lane][k % kStep] * inputs.quants[k];
  return sum;
}

template <class Group>
float add_block(const Unpacked& weights, std::size_t lane, const ActivationBlock& inputs, float sum) noexcept {
  const float scale = weights.scale[lane] * inputs.scale;
  const float other = weights.other[lane];
  if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
    const std::int32_t half = inputs.negated_first_half;
    const std::int32_t first = dot(weights, lane, inputs, 0, kSteps / 2, Group::kZero * half);
    const std::int32_t second =
        dot(weights, lane, inputs, kSteps / 2, kSteps, Group::kZero * (inputs.negated_sum - half));
    sum = std::fma(static_cast<float>(first), scale, sum);
    return std::fma(static_cast<float>(second), other * inputs.scale, sum);
  } else {
    const std::int32_t products = dot(weights, lane, inputs, 0, kSteps, Group::kZero * inputs.negated_sum);
    sum = std::fma(static_cast<float>(products), scale, sum);
    if constexpr (Group::kArithmetic == Arithmetic::kMinimum) sum = std::fma(other, inputs.scaled_sum, sum);
    return sum;
  }
}

template <class Group>
void multiply_panel(const Product& g, const Group* groups, float* out, std::size_t lanes) noexcept {
  for (std::size_t row = 0; row < g.rows; ++row) std::fill_n(out + row * g.out_stride, lanes, 0.0f);
  const std::size_t blocks = (g.inputs / kBlock + Group::kBlocks - 1) / Group::kBlocks * Group::kBlocks;
  for (std::size_t block = 0; block < blocks; ++block) {
    Unpacked weights;
    unpack(groups[block / Group::kBlocks], block % Group::kBlocks, weights);
    for (std::size_t row = 0; row < g.rows; ++row) {
      const ActivationBlock& inputs = g.blocks[row * g.blocks_stride + block];
      float* sums = out + row * g.out_stride;
      for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = add_block<Group>(weights, lane, inputs, sums[lane]);
    }
  }
}

// Calls panel(weights, out, lanes) for every panel.
template <class Panel>
void each_panel(const Product& g, Panel&& panel) {
  for (std::size_t i = 0; i < g.panels; ++i)
    panel(g.weights + i * g.panel_bytes, g.out + i * kLanes, i + 1 == g.panels ? g.lanes : kLanes);
}

template <class Group>
void multiply(const Product& g) noexcept {
  each_panel(g, [&g](const std::byte* weights, float* out, std::size_t lanes) {
    multiply_panel(g, reinterpret_cast<const Group*>(weights), out, lanes);
  });
}

template <class T, class Widen>
void multiply_floats(const Product& g, Widen&& widen) {
  each_panel(g, [&](const std::byte* panel, float* out, std::size_t lanes) {
    const auto* weights = reinterpret_cast<const T*>(panel);
    for (std::size_t row = 0; row < g.rows; ++row) {
      const float* values = g.values + row * g.values_stride;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        float sum = 0;
        for (std::size_t k = 0; k < g.inputs; ++k) sum = std::fma(widen(weights[k * kLanes + lane]), values[k], sum);
        out[row * g.out_stride + lane] = sum;
      }
    }
  });
}

void multiply_f32(const Product& g) noexcept {
  multiply_floats<float>(g, [](float value) { return value; });
}
void multiply_f16(const Product& g) noexcept {
  multiply_floats<std::uint16_t>(g, float_from_half);
}
void multiply_bf16(const Product& g) noexcept {
  multiply_floats<std::uint16_t>(g, from_bf16);
}

}  // namespace

const QuantKernels kScalarKernels{
    .name = "scalar",
    .quantize = quantize,
    .multiply = {multiply_f32, multiply_f16, multiply_bf16, multiply<GroupQ8_0>, multiply<GroupQ4_0>,
                 multiply<GroupQ4_1>, multiply<GroupQ5_0>, multiply<GroupQ5_1>, multiply<GroupQ4_K>,
                 multiply<GroupQ5_K>, multiply<GroupQ6_K>, multiply<GroupIq4Nl>},
};

}  // namespace lorekeep::quant
