#include "vector/vector_matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/cpu/half.h"
#include "core/values/error.h"
#include "core/values/wipe.h"
#include "vector/distance.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kRowsPerPiece = 256;

double square(double value) noexcept {
  return value * value;
}

[[noreturn]] void refuse_value(std::string_view what, std::span<const float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    fail(Code::kInvalidArgument,
         std::string(what) + ": value " + std::to_string(i) + " is " + (std::isnan(values[i]) ? "NaN" : "infinite"),
         {{"index", static_cast<std::int64_t>(i)}});
  }
  fail(Code::kInternal, std::string(what) + ": its length is not a number");
}

void check_shape(std::size_t values, std::size_t dimension) {
  if (dimension == 0 || dimension > kMaxDimension) {
    fail(Code::kInvalidArgument,
         "dimension " + std::to_string(dimension) + ": between 1 and " + std::to_string(kMaxDimension) + " is possible",
         {{"dimension", static_cast<std::int64_t>(dimension)}});
  }
  if (values % dimension != 0) {
    fail(Code::kInvalidArgument,
         std::to_string(values) + " values are not a whole number of rows of dimension " + std::to_string(dimension),
         {{"values", static_cast<std::int64_t>(values)}, {"dimension", static_cast<std::int64_t>(dimension)}});
  }
  if (values / dimension > kMaxRows) {
    fail(Code::kUnsupported,
         std::to_string(values / dimension) + " rows: an index holds at most " + std::to_string(kMaxRows));
  }
}

/// Uses several independent sums: a single one waits for each addition, half a microsecond for 384 values.
double sum_of_squares(std::span<const float> values) noexcept {
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (std::size_t lane = 0; lane < kSums; ++lane) sums[lane] += square(values[i + lane]);
  }
  for (; i < values.size(); ++i) sums[0] += square(values[i]);
  double sum = 0;
  for (double part : sums) sum += part;
  return sum;
}

/// Rounds to nearest, ties to even, for magnitudes below 2^22: nearbyint() is a call per value without SSE4.1.
float round_small(float value) noexcept {
  constexpr float kMagic = 0x1.8p23f;
  return (value + kMagic) - kMagic;
}

/// Returns the largest magnitude, ignoring the sign bit. A plain loop, so that the compiler vectorises it.
template <class Integer>
Integer largest_magnitude(const std::byte* row, std::size_t dimension) noexcept {
  Integer largest = 0;
  for (std::size_t i = 0; i < dimension; ++i) {
    Integer value;
    std::memcpy(&value, row + i * sizeof(value), sizeof(value));
    largest = std::max(largest, static_cast<Integer>(value & std::numeric_limits<Integer>::max()));
  }
  return largest;
}

}  // namespace

void normalise(std::span<const float> from, float* to, std::string_view what) {
  const double squares = sum_of_squares(from);
  if (!std::isfinite(squares)) refuse_value(what, from);
  const double factor = squares > 0 ? 1.0 / std::sqrt(squares) : 0.0;
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i] * factor);
}

float encode_i8(std::span<const float> from, std::int8_t* to) noexcept {
  const auto* bytes = reinterpret_cast<const std::byte*>(from.data());
  const auto largest = std::bit_cast<float>(largest_magnitude<std::int32_t>(bytes, from.size()));
  if (largest == 0) {
    std::memset(to, 0, from.size());
    return 0;
  }
  const float inverse = 127.0f / largest;
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<std::int8_t>(std::clamp(round_small(from[i] * inverse), -127.0f, 127.0f));
  }
  return largest / 127.0f;
}

VectorMatrix VectorMatrix::allocate(VectorType type, std::size_t count, std::size_t dimension) {
  VectorMatrix matrix = view(type, count, dimension, {}, nullptr);
  matrix.owned_rows_ = Buffer<std::byte>::zeroed(count * matrix.stride_);
  if (matrix.scaled()) matrix.owned_scales_ = Buffer<std::byte>::zeroed(count * sizeof(float));
  if (type == VectorType::kI10) matrix.owned_low_ = Buffer<std::byte>::zeroed(count * low_stride(dimension));
  matrix.rows_ = matrix.owned_rows_.data();
  matrix.scales_ = matrix.owned_scales_.as<float>();
  matrix.low_ = matrix.owned_low_.as<std::uint8_t>();
  return matrix;
}

double VectorMatrix::set(std::size_t ordinal, std::span<const float> unit) {
  std::byte* to = owned_rows_.data() + ordinal * stride_;
  double lost = 0;
  switch (type_) {
    case VectorType::kF32: std::memcpy(to, unit.data(), unit.size_bytes()); break;
    case VectorType::kF16: {
      auto* halves = reinterpret_cast<std::uint16_t*>(to);
      kernels().encode_f16(unit.data(), halves, dimension_);
      for (std::size_t i = 0; i < dimension_; ++i) lost += square(unit[i] - float_from_half(halves[i]));
      break;
    }
    case VectorType::kI8: {
      auto* codes = reinterpret_cast<std::int8_t*>(to);
      const float scale = encode_i8(unit, codes);
      owned_scales_.as<float>()[ordinal] = scale;
      for (std::size_t i = 0; i < dimension_; ++i) lost += square(unit[i] - static_cast<float>(codes[i]) * scale);
      break;
    }
    case VectorType::kI10: {
      auto* codes = reinterpret_cast<std::int8_t*>(to);
      auto* low = owned_low_.as<std::uint8_t>() + ordinal * low_stride(dimension_);
      const float scale = encode_ten_bit(unit, codes, low);
      owned_scales_.as<float>()[ordinal] = scale;
      for (std::size_t i = 0; i < dimension_; ++i) {
        lost += square(unit[i] - static_cast<float>(ten_bit_value(codes, low, i)) * (scale / 4));
      }
      break;
    }
  }
  return lost;
}

void VectorMatrix::copy(std::size_t ordinal, const VectorMatrix& from, std::size_t row) noexcept {
  std::memcpy(owned_rows_.data() + ordinal * stride_, from.row(row), stride_);
  if (scaled()) owned_scales_.as<float>()[ordinal] = from.scale(row);
  if (type_ == VectorType::kI10) {
    std::memcpy(owned_low_.data() + ordinal * low_stride(dimension_), from.low_row(row), low_stride(dimension_));
  }
}

void VectorMatrix::wipe() const noexcept {
  for (const Buffer<std::byte>* const owned : {&owned_rows_, &owned_low_}) {
    wipe_bytes(const_cast<std::byte*>(owned->data()), owned->size());
  }
}

VectorMatrix VectorMatrix::encode(std::span<const float> rows, std::size_t dimension, VectorType type,
                                  const Work& work) {
  check_shape(rows.size(), dimension);
  VectorMatrix matrix = allocate(type, rows.size() / dimension, dimension);
  parallel_for(work, matrix.count_, kRowsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t) {
    std::vector<float> unit(dimension);
    for (std::size_t i = begin; i < end; ++i) {
      normalise(rows.subspan(i * dimension, dimension), unit.data(), "row " + std::to_string(i));
      matrix.set(i, unit);
    }
  });
  return matrix;
}

VectorMatrix VectorMatrix::view(VectorType type, std::size_t count, std::size_t dimension, const Memory& memory,
                                std::shared_ptr<const void> owner) {
  VectorMatrix matrix;
  matrix.type_ = type;
  matrix.count_ = count;
  matrix.dimension_ = dimension;
  matrix.stride_ = row_stride(type, dimension);
  matrix.rows_ = memory.rows;
  matrix.scales_ = memory.scales;
  matrix.low_ = memory.low;
  matrix.owner_ = std::move(owner);
  return matrix;
}

VectorMatrix VectorMatrix::codes() const {
  return view(VectorType::kI8, count_, dimension_, {rows_, scales_}, owner_);
}

void VectorMatrix::decode(std::size_t ordinal, float* to) const noexcept {
  const std::byte* from = row(ordinal);
  switch (type_) {
    case VectorType::kF32: std::memcpy(to, from, dimension_ * sizeof(float)); return;
    case VectorType::kF16: kernels().decode_f16(reinterpret_cast<const std::uint16_t*>(from), to, dimension_); return;
    case VectorType::kI8: {
      const auto* codes = reinterpret_cast<const std::int8_t*>(from);
      for (std::size_t i = 0; i < dimension_; ++i) to[i] = static_cast<float>(codes[i]) * scales_[ordinal];
      return;
    }
    case VectorType::kI10: {
      const float scale = scales_[ordinal] / 4;
      for (std::size_t i = 0; i < dimension_; ++i) {
        to[i] = static_cast<float>(ten_bit_value(code_row(ordinal), low_row(ordinal), i)) * scale;
      }
      return;
    }
  }
}

bool VectorMatrix::finite(std::size_t ordinal) const noexcept {
  // Without the sign bit, floats as integers are ordered by magnitude, infinity and NaN above all others.
  switch (type_) {
    case VectorType::kF32: return largest_magnitude<std::int32_t>(row(ordinal), dimension_) < 0x7f800000;
    case VectorType::kF16: return largest_magnitude<std::int16_t>(row(ordinal), dimension_) < 0x7c00;
    case VectorType::kI8:
    case VectorType::kI10: return std::isfinite(scales_[ordinal]) && scales_[ordinal] >= 0;
  }
  return false;
}

void VectorMatrix::check_finite(std::size_t begin, std::size_t end, std::string_view source) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (finite(i)) continue;
    fail_file(Code::kCorrupt, std::string(source), "row " + std::to_string(i) + " holds a value that is not finite",
              {{"row", static_cast<std::int64_t>(i)}});
  }
}

}  // namespace lorekeep::vector
