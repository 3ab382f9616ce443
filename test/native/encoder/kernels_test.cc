// Every set against the scalar one.
#include "encoder/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "core/cpu/bf16.h"
#include "encoder/kernel_sets.h"
#include "harness.h"
#include "products.h"

namespace lorekeep::encoder {
namespace {

using test::difference;
using test::numbers;
using test::rounded;

constexpr std::size_t kRows[] = {0, 1, 2, 5, 11, 12, 13, 16, 24, 25, 97};
constexpr std::size_t kPanels[] = {1, 2, 3, 4, 7};

TEST("kernels: every set that runs here is found by name, and scalar always runs") {
  CHECK(!available_kernels().empty());
  CHECK_EQ(std::string_view(available_kernels().front()->name), "scalar");
  for (const EncoderKernels* set : available_kernels()) CHECK(kernels_named(set->name) == set);
  CHECK(kernels_named("abacus") == nullptr);
}

TEST("kernels: f32 products of every shape, added or stored, with and without bias, in strided matrices") {
  for (const EncoderKernels* set : available_kernels()) {
    for (std::size_t rows : kRows) {
      for (std::size_t panels : kPanels) {
        for (std::size_t depth : {1u, 7u, 64u, 387u}) {
          const std::size_t width = panels * kLanes;
          // As in attention: the panels of one matrix lie side by side in longer rows.
          Gemm<float> g{nullptr, depth + 5,  nullptr, kLanes, width + 16, nullptr,
                        nullptr, width + 16, rows,    depth,  panels,     depth % 2 == 0};
          const auto a = numbers(rows * (depth + 5) + 1, 1);
          const auto b = numbers(depth * (width + 16), 2);
          const auto bias = rows % 2 == 0 ? numbers(width, 4) : std::vector<float>();
          CHECK(difference<float>(kScalarKernels.gemm_f32, set->gemm_f32, a, b, g, bias) < 1e-6);
        }
      }
    }
  }
}

TEST("kernels: bf16 products of every shape") {
  for (const EncoderKernels* set : available_kernels()) {
    if (set->gemm_bf16 == nullptr) continue;
    for (std::size_t rows : kRows) {
      for (std::size_t panels : kPanels) {
        for (std::size_t depth : {2u, 64u, 388u}) {
          const std::size_t width = panels * kLanes;
          Gemm<std::uint16_t> g{nullptr, depth, nullptr, depth * kLanes, 2 * kLanes, nullptr,
                                nullptr, width, rows,    depth,          panels,     depth == 64};
          const auto a = rounded(numbers(rows * depth, 1));
          const auto b = rounded(numbers(depth * width, 2));
          CHECK(difference<std::uint16_t>(kScalarKernels.gemm_bf16, set->gemm_bf16, a, b, g, numbers(width, 4)) < 1e-6);
        }
      }
    }
  }
}

/// Panels of any quants, with the offsets that belong to them.
std::vector<Q8Panel> q8_panels(std::size_t count) {
  std::mt19937_64 random(test::seed());
  std::uniform_int_distribution<int> quant(-127, 127);
  const auto scales = numbers(count * kLanes, 11);
  std::vector<Q8Panel> panels(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::int32_t sum = 0;
      for (auto& group : panels[i].quants) {
        for (std::int8_t& value : group[lane]) sum += value = static_cast<std::int8_t>(quant(random));
      }
      panels[i].offset[lane] = -kQ8Zero * sum;
      panels[i].scale[lane] = (scales[i * kLanes + lane] + 2) / kMaxQuant;
    }
  }
  return panels;
}

TEST("kernels: 8-bit products of every shape, and of the largest quants") {
  for (const EncoderKernels* set : available_kernels()) {
    if (set->gemm_q8 == nullptr) continue;
    for (std::size_t rows : kRows) {
      for (std::size_t panels : kPanels) {
        for (std::size_t blocks : {1u, 2u, 12u}) {
          const auto values = numbers(rows * blocks * kQ8Block, 1);
          std::vector<Q8Input> a(rows * blocks);
          kScalarKernels.quantize_q8(values.data(), a.data(), a.size());
          if (panels == 1) {
            for (Q8Input& block : a) std::fill_n(block.quants, kQ8Block, std::uint8_t{255});
          }
          const auto b = q8_panels(panels * blocks);
          const auto bias = numbers(panels * kLanes, 4);
          auto expected = numbers(rows * panels * kLanes, 3);
          auto found = expected;
          GemmQ8 g{a.data(), b.data(), bias.data(), expected.data(), rows, blocks, panels, blocks == 2};
          kScalarKernels.gemm_q8(g);
          g.c = found.data();
          set->gemm_q8(g);
          for (std::size_t i = 0; i < found.size(); ++i) CHECK_NEAR(found[i], expected[i], 1e-4);
        }
      }
    }
  }
}

TEST("kernels: 8-bit quants are half a step from the value at most, in blocks of any size") {
  auto values = numbers(5 * kQ8Block, 5);
  std::fill_n(values.begin(), kQ8Block, 0.0f);  // no scale
  for (std::size_t i = 0; i < kQ8Block; ++i) values[kQ8Block + i] *= 1e-30f;
  values[2 * kQ8Block] = -1000.0f;  // dwarfs the others
  for (const EncoderKernels* set : available_kernels()) {
    if (set->quantize_q8 == nullptr) continue;
    std::vector<Q8Input> found(5);
    set->quantize_q8(values.data(), found.data(), found.size());
    CHECK_EQ(found[0].scale, 0.0f);
    CHECK_EQ(int{found[2].quants[0]}, 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& [quants, scale] = found[i / kQ8Block];
      CHECK_NEAR(static_cast<float>(quants[i % kQ8Block] - kQ8Zero) * scale, values[i], 0.501 * scale);
    }
  }
}

TEST("kernels: a row's product is the same to the last bit beside any other rows") {
  constexpr std::size_t kDepth = 96;
  constexpr std::size_t kWidth = 48;
  const auto a = numbers(25 * kDepth, 1);
  const auto b = numbers(kWidth * kDepth, 2);
  for (const EncoderKernels* set : available_kernels()) {
    std::vector<float> together(25 * kWidth);
    set->gemm_f32({a.data(), kDepth, b.data(), kDepth * kLanes, kLanes, nullptr, together.data(), kWidth, 25, kDepth,
                   kWidth / kLanes, false});
    for (std::size_t row = 0; row < 25; ++row) {
      std::vector<float> alone(kWidth);
      set->gemm_f32({a.data() + row * kDepth, kDepth, b.data(), kDepth * kLanes, kLanes, nullptr, alone.data(), kWidth,
                     1, kDepth, kWidth / kLanes, false});
      CHECK(std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(row * kWidth)));
    }
  }
}

TEST("kernels: rounding to bf16 is to nearest, ties to even") {
  CHECK_EQ(to_bf16(1.0f), 0x3f80);
  CHECK_EQ(to_bf16(1.00390625f), 0x3f80);  // halfway between 0x3f80 and 0x3f81
  CHECK_EQ(to_bf16(1.01171875f), 0x3f82);  // halfway between 0x3f81 and 0x3f82
  CHECK_EQ(from_bf16(0xbf80), -1.0f);
  const auto values = numbers(160, 5);
  const auto expected = rounded(values);
  for (const EncoderKernels* set : available_kernels()) {
    std::vector<std::uint16_t> found(values.size());
    set->round_bf16(values.data(), found.data(), found.size());
    CHECK(found == expected);
  }
}

TEST("kernels: GELU from far below zero to far above") {
  std::vector<float> values;
  for (float x = -120; x <= 120; x += 0.25f) values.push_back(x);
  values.resize(values.size() / kLanes * kLanes);
  std::vector<float> expected = values;
  kScalarKernels.gelu(expected.data(), expected.size());
  for (const EncoderKernels* set : available_kernels()) {
    std::vector<float> found = values;
    set->gelu(found.data(), found.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK_NEAR(found[i], expected[i], 1e-6 * std::abs(values[i]) + 1e-7);
  }
}

TEST("kernels: norms of rows far from zero, and of constant ones") {
  const auto weight = numbers(384, 6);
  const auto bias = numbers(384, 7);
  for (float shift : {0.0f, 100.0f}) {
    auto row = numbers(384, 8);
    for (float& value : row) value += shift;
    auto expected = row;
    kScalarKernels.layer_norm(expected.data(), weight.data(), bias.data(), row.size(), 1e-12f);
    for (const EncoderKernels* set : available_kernels()) {
      auto found = row;
      set->layer_norm(found.data(), weight.data(), bias.data(), row.size(), 1e-12f);
      for (std::size_t i = 0; i < found.size(); ++i) CHECK_NEAR(found[i], expected[i], 1e-4);
    }
  }
  for (const EncoderKernels* set : available_kernels()) {
    std::vector<float> row(384, 0.0f);
    set->layer_norm(row.data(), weight.data(), bias.data(), row.size(), 1e-12f);
    CHECK(row == bias);
  }
}

TEST("kernels: softmax of every length sums to one and touches nothing beyond its end") {
  for (const EncoderKernels* set : available_kernels()) {
    for (std::size_t count : {1u, 2u, 15u, 16u, 17u, 31u, 33u, 450u}) {
      std::vector<float> row = numbers(count + kLanes, 9);
      for (float& value : row) value *= 30;
      std::vector<float> expected = row;
      kScalarKernels.softmax(expected.data(), count, 0.5f);
      set->softmax(row.data(), count, 0.5f);
      double sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += row[i];
      CHECK_NEAR(sum, 1, 1e-5);
      for (std::size_t i = 0; i < row.size(); ++i) CHECK_NEAR(row[i], expected[i], 1e-6);
    }
  }
}

}  // namespace
}  // namespace lorekeep::encoder
