#include "matrices.h"

#include <cstring>
#include <random>

#include "core/cpu/bf16.h"
#include "core/cpu/half.h"
#include "harness.h"

namespace lorekeep::quant::test {
namespace {

/// Where the f16 values of a block begin: their number and offset.
struct Halves {
  std::size_t count;
  std::size_t offset;
};

Halves halves_of(Format format) {
  switch (format) {
    case Format::kQ4_1:
    case Format::kQ5_1:
    case Format::kQ4_K:
    case Format::kQ5_K: return {2, 0};
    case Format::kQ6_K: return {1, block_bytes(format) - 2};
    default: return {1, 0};
  }
}

void put_float(Format format, float value, std::byte* to) {
  if (format == Format::kF32) {
    std::memcpy(to, &value, sizeof value);
  } else {
    const std::uint16_t bits = format == Format::kBf16 ? to_bf16(value) : half_from_float(value);
    std::memcpy(to, &bits, sizeof bits);
  }
}

}  // namespace

std::vector<std::byte> file_rows(Format format, std::size_t outputs, std::size_t inputs, unsigned seed) {
  std::mt19937_64 random(lorekeep::test::seed() + seed);
  std::uniform_real_distribution<float> scale(-0.01f, 0.01f);
  std::vector<std::byte> rows(outputs * row_bytes(format, inputs));
  const std::size_t size = block_bytes(format);
  for (auto& byte : rows) byte = static_cast<std::byte>(random());
  for (std::size_t at = 0; at < rows.size(); at += size) {
    if (is_float(format)) {
      put_float(format, 100 * scale(random), rows.data() + at);
      continue;
    }
    const Halves halves = halves_of(format);
    for (std::size_t i = 0; i < halves.count; ++i) {
      const std::uint16_t bits = half_from_float(scale(random));
      std::memcpy(rows.data() + at + halves.offset + 2 * i, &bits, sizeof bits);
    }
  }
  return rows;
}

std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 random(lorekeep::test::seed() + seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> all(count);
  for (float& x : all) x = random() % 16 == 0 ? 0 : value(random);
  return all;
}

}  // namespace lorekeep::quant::test
