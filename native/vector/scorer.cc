#include "vector/scorer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/values/error.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kCacheLine = 64;
// Cache lines prefetched when a row is discovered; the rest follows one group of four rows before its turn. The core
// would drop more prefetches than the misses it can track.
constexpr std::size_t kFirstLines = 4;
// A scan prefetches rows this far ahead into the second-level cache: the first level tracks too few misses to keep
// memory busy (100,000 codes of 384 bytes: 20 ns per row, instead of 50 when prefetched one group ahead).
constexpr std::size_t kStreamAhead = 32;

void prefetch_line(const std::byte* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
}

void prefetch_line_to_l2(const std::byte* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address, 0, 2);
#endif
}

/// Returns the length of (vector - its code), using several independent sums.
float length_lost(std::span<const float> unit, const std::int8_t* codes, float scale) noexcept {
  constexpr std::size_t kSums = 8;
  float sums[kSums] = {};
  const auto squared_error = [&](std::size_t i) {
    const float error = unit[i] - static_cast<float>(codes[i]) * scale;
    return error * error;
  };
  std::size_t i = 0;
  for (; i + kSums <= unit.size(); i += kSums) {
    for (std::size_t lane = 0; lane < kSums; ++lane) sums[lane] += squared_error(i + lane);
  }
  for (; i < unit.size(); ++i) sums[0] += squared_error(i);
  float sum = 0;
  for (float part : sums) sum += part;
  return std::sqrt(sum);
}

}  // namespace

Scorer::Scorer(const VectorMatrix& matrix, std::span<const float> query) : matrix_(matrix), kernels_(kernels()) {
  if (query.size() != matrix.dimension()) {
    fail(
        Code::kDimensionMismatch,
        "the query has dimension " + std::to_string(query.size()) + ", the index " + std::to_string(matrix.dimension()),
        {{"dimension", static_cast<std::int64_t>(query.size())},
         {"expected", static_cast<std::int64_t>(matrix.dimension())}});
  }
  const std::size_t values = whole_groups(query.size()) * sizeof(float);
  storage_.resize(values + (matrix.type() == VectorType::kI8 ? query.size() : 0));
  auto* unit = reinterpret_cast<float*>(storage_.data());
  normalise(query, unit, "the query");
  query_ = storage_.data();
  if (matrix.type() == VectorType::kI8) {
    query_ = storage_.data() + values;
    auto* codes = reinterpret_cast<std::int8_t*>(storage_.data() + values);
    scale_ = encode_i8({unit, query.size()}, codes);
    code_error_ = length_lost({unit, query.size()}, codes, scale_);
  }
}

Scorer::Scorer(const VectorMatrix& matrix, std::size_t ordinal) : matrix_(matrix), kernels_(kernels()) {
  query_ = matrix.row(ordinal);
  if (matrix.type() == VectorType::kI8) scale_ = matrix.scale(ordinal);
  if (matrix.type() == VectorType::kF16 || matrix.type() == VectorType::kI10) {
    storage_.resize(whole_groups(matrix.dimension()) * sizeof(float));
    matrix.decode(ordinal, reinterpret_cast<float*>(storage_.data()));
    query_ = storage_.data();
  }
}

float Scorer::distance(std::uint32_t ordinal) const noexcept {
  const std::byte* row = matrix_.row(ordinal);
  const std::size_t length = matrix_.dimension();
  switch (matrix_.type()) {
    case VectorType::kF32:
      return cosine_distance(
          kernels_.dot_f32(reinterpret_cast<const float*>(query_), reinterpret_cast<const float*>(row), length));
    case VectorType::kF16:
      return cosine_distance(kernels_.dot_f16(reinterpret_cast<const float*>(query_),
                                              reinterpret_cast<const std::uint16_t*>(row), length));
    case VectorType::kI10: return ten_bit_distance(ordinal);
    case VectorType::kI8: break;
  }
  const std::int32_t dot =
      kernels_.dot_i8(reinterpret_cast<const std::int8_t*>(query_), reinterpret_cast<const std::int8_t*>(row), length);
  return cosine_distance(static_cast<float>(dot) * (scale_ * matrix_.scale(ordinal)));
}

float Scorer::ten_bit_distance(std::uint32_t ordinal) const noexcept {
  const float dot = kernels_.dot_ten_bit(reinterpret_cast<const float*>(query_), matrix_.code_row(ordinal),
                                         matrix_.low_row(ordinal), whole_groups(matrix_.dimension()));
  return cosine_distance(dot * (matrix_.scale(ordinal) / 4));
}

void Scorer::prefetch(std::uint32_t ordinal) const noexcept {
  if (matrix_.type() == VectorType::kI10) return prefetch_low(ordinal);
  const std::byte* row = matrix_.row(ordinal);
  const std::size_t lines = std::min(kFirstLines, matrix_.stride() / kCacheLine);
  for (std::size_t i = 0; i < lines; ++i) prefetch_line(row + i * kCacheLine);
}

void Scorer::prefetch_low(std::uint32_t ordinal) const noexcept {
  const auto* low = reinterpret_cast<const std::byte*>(matrix_.low_row(ordinal));
  for (std::size_t at = 0; at < low_stride(matrix_.dimension()); at += kCacheLine) prefetch_line(low + at);
}

void Scorer::prefetch_row(std::uint32_t ordinal) const noexcept {
  const std::byte* row = matrix_.row(ordinal);
  for (std::size_t at = 0; at < matrix_.stride(); at += kCacheLine) prefetch_line(row + at);
  if (matrix_.type() == VectorType::kI10) prefetch_low(ordinal);
}

void Scorer::stream(std::uint32_t ordinal) const noexcept {
  const std::byte* row = matrix_.row(ordinal);
  for (std::size_t at = 0; at < matrix_.stride(); at += kCacheLine) prefetch_line_to_l2(row + at);
  if (!matrix_.scale_values().empty()) prefetch_line_to_l2(matrix_.scale_at(ordinal));
  if (matrix_.type() == VectorType::kI10) prefetch_low(ordinal);
}

template <class Score4, class OrdinalAt>
void Scorer::score(std::size_t count, float* out, OrdinalAt&& at, Score4&& score4) const noexcept {
  std::size_t i = 0;
  for (; i + kStreamAhead + 4 <= count; i += 4) {
    for (std::size_t next = i + kStreamAhead; next < i + kStreamAhead + 4; ++next) stream(at(next));
    const std::uint32_t group[4] = {at(i), at(i + 1), at(i + 2), at(i + 3)};
    score4(group, out + i);
  }
  for (; i + 4 <= count; i += 4) {
    for (std::size_t next = i + 4; next < std::min(i + 8, count); ++next) prefetch_row(at(next));
    const std::uint32_t group[4] = {at(i), at(i + 1), at(i + 2), at(i + 3)};
    score4(group, out + i);
  }
  for (; i < count; ++i) out[i] = distance(at(i));
}

template <class T>
std::array<const T*, 4> Scorer::rows_as(const std::uint32_t group[4]) const noexcept {
  std::array<const T*, 4> rows;
  for (std::size_t r = 0; r < 4; ++r) rows[r] = reinterpret_cast<const T*>(matrix_.row(group[r]));
  return rows;
}

template <class OrdinalAt>
void Scorer::dispatch(std::size_t count, float* out, OrdinalAt&& at) const noexcept {
  const std::size_t length = matrix_.dimension();
  switch (matrix_.type()) {
    case VectorType::kF32:
      return score(count, out, at, [&](const std::uint32_t group[4], float* to) {
        const auto rows = rows_as<float>(group);
        kernels_.dot4_f32(reinterpret_cast<const float*>(query_), rows.data(), length, to);
        for (int r = 0; r < 4; ++r) to[r] = cosine_distance(to[r]);
      });
    case VectorType::kF16:
      return score(count, out, at, [&](const std::uint32_t group[4], float* to) {
        const auto rows = rows_as<std::uint16_t>(group);
        kernels_.dot4_f16(reinterpret_cast<const float*>(query_), rows.data(), length, to);
        for (int r = 0; r < 4; ++r) to[r] = cosine_distance(to[r]);
      });
    case VectorType::kI10:
      return score(count, out, at, [&](const std::uint32_t group[4], float* to) {
        for (int r = 0; r < 4; ++r) to[r] = ten_bit_distance(group[r]);
      });
    case VectorType::kI8:
      return score(count, out, at, [&](const std::uint32_t group[4], float* to) {
        const auto rows = rows_as<std::int8_t>(group);
        std::int32_t dots[4];
        kernels_.dot4_i8(reinterpret_cast<const std::int8_t*>(query_), rows.data(), length, dots);
        for (int r = 0; r < 4; ++r) {
          to[r] = cosine_distance(static_cast<float>(dots[r]) * (scale_ * matrix_.scale(group[r])));
        }
      });
  }
}

void Scorer::distances(const std::uint32_t* ordinals, std::size_t count, float* out) const noexcept {
  dispatch(count, out, [ordinals](std::size_t i) { return ordinals[i]; });
}

void Scorer::distances_from(std::uint32_t first, std::size_t count, float* out) const noexcept {
  dispatch(count, out, [first](std::size_t i) { return first + static_cast<std::uint32_t>(i); });
}

}  // namespace lorekeep::vector
