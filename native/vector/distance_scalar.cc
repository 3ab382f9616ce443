// The portable set: the reference for tests, and the fallback for other CPUs.
#include "core/cpu/half.h"
#include "vector/distance_sets.h"
#include "vector/ten_bit.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kLanes = 8;  // independent sums, which the compiler can vectorise

float reduce(const float sums[kLanes]) {
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

float dot_f32(const float* query, const float* row, std::size_t length) {
  float sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= length; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += query[i + lane] * row[i + lane];
  }
  for (; i < length; ++i) sums[i % kLanes] += query[i] * row[i];
  return reduce(sums);
}

float dot_f16(const float* query, const std::uint16_t* row, std::size_t length) {
  float sums[kLanes] = {};
  for (std::size_t i = 0; i < length; ++i) sums[i % kLanes] += query[i] * float_from_half(row[i]);
  return reduce(sums);
}

std::int32_t dot_i8(const std::int8_t* query, const std::int8_t* row, std::size_t length) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += std::int32_t{query[i]} * row[i];
  return sum;
}

void dot4_f32(const float* query, const float* const rows[4], std::size_t length, float out[4]) {
  for (int r = 0; r < 4; ++r) out[r] = dot_f32(query, rows[r], length);
}
void dot4_f16(const float* query, const std::uint16_t* const rows[4], std::size_t length, float out[4]) {
  for (int r = 0; r < 4; ++r) out[r] = dot_f16(query, rows[r], length);
}
void dot4_i8(const std::int8_t* query, const std::int8_t* const rows[4], std::size_t length, std::int32_t out[4]) {
  for (int r = 0; r < 4; ++r) out[r] = dot_i8(query, rows[r], length);
}

float dot_ten_bit(const float* query, const std::int8_t* codes, const std::uint8_t* low, std::size_t length) {
  float sums[kLanes] = {};
  for (std::size_t i = 0; i < length; ++i) {
    sums[i % kLanes] += query[i] * static_cast<float>(ten_bit_value(codes, low, i));
  }
  return reduce(sums);
}

void encode_f16(const float* from, std::uint16_t* to, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) to[i] = half_from_float(from[i]);
}
void decode_f16(const std::uint16_t* from, float* to, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) to[i] = float_from_half(from[i]);
}

}  // namespace

/// Few bounds are near, so most groups are ruled out by vector instructions of the compiler.
std::size_t pick_scalar(const float* bounds, std::size_t count, float furthest, std::uint32_t* picked) noexcept {
  constexpr std::size_t kTogether = 16;
  std::size_t size = 0;
  for (std::size_t begin = 0; begin < count; begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, count);
    if (end == begin + kTogether) {
      std::int32_t beyond = 0;
      for (std::size_t i = 0; i < kTogether; ++i) beyond += bounds[begin + i] > furthest ? 1 : 0;
      if (beyond == kTogether) continue;
    }
    for (std::size_t i = begin; i < end; ++i) {
      picked[size] = static_cast<std::uint32_t>(i);
      size += bounds[i] > furthest ? 0 : 1;
    }
  }
  return size;
}

const DistanceKernels kScalarKernels{
    .name = "scalar",
    .dot_f32 = dot_f32,
    .dot4_f32 = dot4_f32,
    .dot_f16 = dot_f16,
    .dot4_f16 = dot4_f16,
    .dot_i8 = dot_i8,
    .dot4_i8 = dot4_i8,
    .dot_ten_bit = dot_ten_bit,
    .pick = pick_scalar,
    .encode_f16 = encode_f16,
    .decode_f16 = decode_f16,
};

}  // namespace lorekeep::vector
