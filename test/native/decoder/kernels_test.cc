// Every set of the decoder's kernels against plain arithmetic, with counts that fill no register.
#include "decoder/kernels.h"

#include <cmath>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "core/cpu/half.h"
#include "harness.h"

namespace lorekeep::decoder {
namespace {

constexpr std::size_t kCounts[] = {1, 2, 7, 8, 15, 16, 17, 40, 172, 576};

std::vector<float> numbers(std::size_t count, float scale, unsigned salt) {
  std::mt19937_64 random(test::seed() + salt);
  std::normal_distribution<float> normal;
  std::vector<float> found(count);
  for (float& value : found) value = scale * normal(random);
  return found;
}

double worst(const std::vector<float>& found, const std::vector<double>& expected) {
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    most = std::max(most, std::abs(found[i] - expected[i]) / (1 + std::abs(expected[i])));
  return most;
}

TEST("decoder kernels: scalar always runs") {
  CHECK_EQ(std::string_view(available_kernels().front()->name), "scalar");
}

TEST("decoder kernels: norms") {
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t count : kCounts) {
      std::vector<float> row = numbers(count, 3, 1);
      const std::vector<float> weight = numbers(count, 1, 2);
      double squares = 0;
      for (const float value : row) squares += static_cast<double>(value) * value;
      std::vector<double> expected(count);
      for (std::size_t i = 0; i < count; ++i)
        expected[i] = row[i] / std::sqrt(squares / static_cast<double>(count) + 1e-5) * weight[i];
      std::vector<float> to(count);
      set->rms_norm(row.data(), weight.data(), to.data(), count, 1e-5f);
      CHECK(worst(to, expected) < 1e-6);
      set->rms_norm(row.data(), weight.data(), row.data(), count, 1e-5f);
      CHECK(row == to);
    }
  }
}

TEST("decoder kernels: gated activations, up to values whose exponential overflows") {
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t count : kCounts) {
      std::vector<float> gate = numbers(count, 4, 3);
      gate[0] = 200;
      gate[count / 2] = -200;
      const std::vector<float> up = numbers(count, 1, 4);
      std::vector<double> silu(count);
      std::vector<double> gelu(count);
      for (std::size_t i = 0; i < count; ++i) {
        const double x = gate[i];
        silu[i] = x / (1 + std::exp(-x)) * up[i];
        gelu[i] = 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x))) * up[i];
      }
      std::vector<float> found = gate;
      set->silu_times(found.data(), up.data(), count);
      CHECK(worst(found, silu) < 1e-6);
      found = gate;
      set->gelu_times(found.data(), up.data(), count);
      CHECK(worst(found, gelu) < 1e-6);
    }
  }
}

TEST("decoder kernels: rotations keep lengths and turn both styles of pairs") {
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t angles : {1u, 4u, 5u, 16u, 32u, 37u}) {
      std::vector<float> cosines(angles);
      std::vector<float> sines(angles);
      for (std::size_t i = 0; i < angles; ++i) {
        cosines[i] = std::cos(0.3f * static_cast<float>(i + 1));
        sines[i] = std::sin(0.3f * static_cast<float>(i + 1));
      }
      const std::vector<float> head = numbers(2 * angles, 1, 5);
      for (const bool pairs : {true, false}) {
        std::vector<float> found = head;
        (pairs ? set->rotate_pairs : set->rotate_halves)(found.data(), cosines.data(), sines.data(), angles);
        std::vector<double> expected(2 * angles);
        for (std::size_t i = 0; i < angles; ++i) {
          const std::size_t x = pairs ? 2 * i : i;
          const std::size_t y = pairs ? 2 * i + 1 : i + angles;
          expected[x] = static_cast<double>(head[x]) * cosines[i] - static_cast<double>(head[y]) * sines[i];
          expected[y] = static_cast<double>(head[x]) * sines[i] + static_cast<double>(head[y]) * cosines[i];
        }
        CHECK(worst(found, expected) < 1e-6);
      }
    }
  }
}

TEST("decoder kernels: values become integers with a scale, finite whatever comes") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t count : kCounts) {
      for (const float size : {0.0f, 1e-30f, 1e-10f, 1.0f, 1e4f, 1e30f, kInfinity}) {
        std::vector<float> from = numbers(count, 1, 6);
        for (float& value : from) value *= size;
        if (count > 2) from[2] = std::numeric_limits<float>::quiet_NaN();
        std::vector<std::uint16_t> to(count + 1, 0x1234);
        const float scale = set->store_value(from.data(), to.data(), count);
        REQUIRE(std::isfinite(scale) && scale >= 0);
        bool near = true;
        for (std::size_t i = 0; i < count; ++i) {
          const auto integer = static_cast<std::int16_t>(to[i]);
          const float bounded = from[i] < 65504 ? std::max(from[i], -65504.0f) : 65504.0f;  // also for NaN
          near = near && std::abs(static_cast<float>(integer)) <= kLargestValue;
          near = near && std::abs(static_cast<double>(integer) * scale - bounded) <= 0.51 * scale + 1e-15;
        }
        CHECK(near);
        CHECK_EQ(to[count], 0x1234);
      }
    }
  }
}

TEST("decoder kernels: queries and keys become integers whose products fit into 32 bits") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t head : {2u, 8u, 10u, 40u, 64u, 80u, 256u, 4096u}) {
      for (const float size : {0.0f, 1e-30f, 1e-16f, 1e-10f, 1.0f, 1e4f, 1e30f, kInfinity}) {
        for (const bool spike : {false, true}) {
          std::vector<float> from = numbers(head, 1, 9);
          for (float& value : from) value *= size;
          if (spike) from[head / 2] = 1000 * size;
          const std::size_t stride = 6;
          std::vector<std::uint16_t> to(head / 2 * stride, 0x1234);
          const float scale = set->store_pairs(from.data(), to.data(), head, stride);
          REQUIRE(std::isfinite(scale) && scale > 0);
          double squares = 0;
          bool near = true;
          for (std::size_t d = 0; d < head; ++d) {
            const auto integer = static_cast<std::int16_t>(to[d / 2 * stride + d % 2]);
            const float bounded = from[d] < 65504 ? std::max(from[d], -65504.0f) : 65504.0f;  // also for NaN
            squares += static_cast<double>(integer) * integer;
            near = near && integer != -32768;
            near = near && std::abs(static_cast<double>(integer) * scale - bounded) <= 0.51 * scale + 1e-15;
          }
          CHECK(near);
          CHECK(squares < 2147483647.0);
          if (size == 1.0f) CHECK(squares > 32000.0 * 32000.0);
          CHECK_EQ(to[2], 0x1234);
        }
      }
    }
  }
}

TEST("decoder kernels: cells of 8 bits become cells of 16") {
  std::mt19937_64 random(test::seed());
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t head : {2u, 8u, 10u, 32u, 40u, 64u, 80u, 128u}) {
      std::vector<std::int8_t> quants(padded(head) * kBlockKeys);
      for (std::int8_t& quant : quants) quant = static_cast<std::int8_t>(random());
      std::vector<std::uint16_t> scales(scale_groups(head) * kBlockKeys);
      for (std::uint16_t& scale : scales) scale = half_from_float(0.001f * static_cast<float>(random() % 1000));
      for (std::size_t group = 0; group < scale_groups(head); ++group) scales[group * kBlockKeys] = 0;
      std::vector<std::uint16_t> keys(key_numbers(head));
      std::vector<std::uint16_t> values(value_numbers(head));
      set->expand_keys(quants.data(), scales.data(), keys.data(), head);
      set->expand_values(quants.data(), scales.data(), values.data(), head);
      bool same = true;
      for (std::size_t key = 0; key < kBlockKeys; ++key) {
        const float key_scale = key_scales(keys.data(), head)[key];
        double squares = 0;
        for (std::size_t d = 0; d < head; ++d) {
          const float scale = float_from_half(scales[d / kScaleDimensions * kBlockKeys + key]);
          const auto integer = static_cast<std::int16_t>(keys[(d / 2 * kBlockKeys + key) * 2 + d % 2]);
          squares += static_cast<double>(integer) * integer;
          const double expected = static_cast<double>(quants[d * kBlockKeys + key]) * scale;
          same = same && std::abs(static_cast<double>(integer) * key_scale - expected) <= 0.51 * key_scale;
          const std::size_t at_value = key * padded(head) + d;
          const auto value = static_cast<std::int16_t>(values[at_value]);
          const float value_scale = value_scales(values.data(), head)[key];
          same = same && std::abs(static_cast<double>(value)) <= static_cast<double>(kLargestValue);
          same = same && std::abs(static_cast<double>(value) * value_scale -
                                  quants[at_value] * static_cast<double>(scale)) <= 0.51 * value_scale;
        }
        same = same && squares < 2147483647.0;
      }
      CHECK(same);
    }
  }
}

TEST("decoder kernels: sums and scaled rows") {
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t count : kCounts) {
      std::vector<float> to = numbers(count, 1, 7);
      const std::vector<float> from = numbers(count, 1, 8);
      std::vector<float> expected(count);
      for (std::size_t i = 0; i < count; ++i) expected[i] = (to[i] + from[i]) * 3.0f;
      set->add(to.data(), from.data(), count);
      set->scale(to.data(), 3.0f, count);
      CHECK(to == expected);
    }
  }
}

}  // namespace
}  // namespace lorekeep::decoder
