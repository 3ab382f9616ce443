// Compares the products of two kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/cpu/bf16.h"
#include "encoder/kernels.h"

namespace lorekeep::test {

/// From -1 to 1, the same for a seed.
inline std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

inline std::vector<std::uint16_t> rounded(const std::vector<float>& values) {
  std::vector<std::uint16_t> found;
  for (float value : values) found.push_back(to_bf16(value));
  return found;
}

/// Returns the largest difference between the results of two functions, relative to the sums' spread.
template <class T>
double difference(void (*a)(const encoder::Gemm<T>&), void (*b)(const encoder::Gemm<T>&), const std::vector<T>& left,
                  const std::vector<T>& right, encoder::Gemm<T> shape, const std::vector<float>& bias) {
  const std::size_t cells = shape.rows * shape.c_stride;
  std::vector<float> expected = numbers(cells, 3);
  std::vector<float> found = expected;
  shape.a = left.data();
  shape.b = right.data();
  shape.bias = bias.empty() ? nullptr : bias.data();
  shape.c = expected.data();
  a(shape);
  shape.c = found.data();
  b(shape);
  double worst = 0;
  for (std::size_t i = 0; i < cells; ++i) worst = std::max(worst, std::abs(double{expected[i]} - found[i]));
  return worst / std::sqrt(static_cast<double>(shape.depth));
}

}  // namespace lorekeep::test
