// Row-major, L2-normalised vectors of one type, rows aligned to cache lines; owned or in a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/threads/work.h"
#include "core/values/buffer.h"
#include "vector/ten_bit.h"
#include "vector/vector_type.h"

namespace lorekeep::vector {

/// Returns the bytes from one row to the next: the row, padded with zeros to a multiple of 64.
constexpr std::size_t row_stride(VectorType type, std::size_t dimension) noexcept {
  return (dimension * bytes_per_value(type) + 63) / 64 * 64;
}

/// Writes `from` at length 1 to `to`; a zero vector stays zero. `what` names the vector in errors. Throws
/// Error(kInvalidArgument) for NaN and infinite values. The sum of squares is taken in double: no float overflows it.
void normalise(std::span<const float> from, float* to, std::string_view what);

/// Writes the i8 codes of a vector and returns their scale: code * scale is the value, the largest magnitude is 127.
/// One scale per row, because the largest value of a unit vector varies by a factor of several between rows.
float encode_i8(std::span<const float> from, std::int8_t* to) noexcept;

class VectorMatrix {
 public:
  VectorMatrix() = default;

  /// Normalises and encodes `rows` (row-major, a multiple of `dimension` values). Throws Error(kInvalidArgument)
  /// naming the row (NaN, infinity, a broken size), Error(kOutOfMemory). Grain of cancellation: 256 rows.
  static VectorMatrix encode(std::span<const float> rows, std::size_t dimension, VectorType type,
                             const Work& work = {});
  /// Allocates zero vectors, to be filled with set().
  static VectorMatrix allocate(VectorType type, std::size_t count, std::size_t dimension);
  /// Encodes a vector into an owned row and returns the squared length of its error. Threads may set different rows.
  double set(std::size_t ordinal, std::span<const float> unit);
  /// Copies a row of a matrix of the same type and dimension into an owned row, to the bit.
  void copy(std::size_t ordinal, const VectorMatrix& from, std::size_t row) noexcept;
  /// Overwrites owned rows with zeros.
  void wipe() const noexcept;
  /// The arrays of rows, for example in a mapped file.
  struct Memory {
    const std::byte* rows = nullptr;    // count * row_stride() bytes, at a multiple of 64
    const float* scales = nullptr;      // i8 and i10: count
    const std::uint8_t* low = nullptr;  // i10: count * low_stride() bytes
  };
  /// Precondition: the sizes were checked. `owner` keeps the memory alive.
  static VectorMatrix view(VectorType type, std::size_t count, std::size_t dimension, const Memory& memory,
                           std::shared_ptr<const void> owner);
  /// Returns a view of the codes of i10 rows. For an owned matrix it is valid as long as this matrix, even if moved.
  VectorMatrix codes() const;

  std::size_t size() const noexcept { return count_; }
  std::size_t dimension() const noexcept { return dimension_; }
  VectorType type() const noexcept { return type_; }
  std::size_t stride() const noexcept { return stride_; }
  const std::byte* row(std::size_t ordinal) const noexcept { return rows_ + ordinal * stride_; }
  /// The scale of the codes; i8 and i10 only.
  float scale(std::size_t ordinal) const noexcept { return scales_[ordinal]; }
  const std::byte* scale_at(std::size_t ordinal) const noexcept {
    return reinterpret_cast<const std::byte*>(scales_ + ordinal);
  }
  const std::int8_t* code_row(std::size_t ordinal) const noexcept {
    return reinterpret_cast<const std::int8_t*>(row(ordinal));
  }
  /// i10 only.
  const std::uint8_t* low_row(std::size_t ordinal) const noexcept { return low_ + ordinal * low_stride(dimension_); }

  /// Decodes a row to f32: exact for f32, within the type's precision otherwise. `to` has dimension() values.
  void decode(std::size_t ordinal, float* to) const noexcept;
  /// Throws Error(kCorrupt) naming `source` and the row for a number in the rows [begin, end) that is not finite, and
  /// for a negative scale of i8 and i10.
  void check_finite(std::size_t begin, std::size_t end, std::string_view source) const;

  std::span<const std::byte> row_bytes() const noexcept { return {rows_, count_ * stride_}; }
  std::span<const float> scale_values() const noexcept { return {scales_, scaled() ? count_ : 0}; }
  std::span<const std::uint8_t> low_bytes() const noexcept {
    return {low_, type_ == VectorType::kI10 ? count_ * low_stride(dimension_) : 0};
  }
  /// Bytes of all arrays, on the heap or in a file.
  std::size_t bytes() const noexcept { return row_bytes().size() + scale_values().size_bytes() + low_bytes().size(); }
  /// Heap bytes; 0 for a view.
  std::size_t heap_bytes() const noexcept { return owned_rows_.size() + owned_scales_.size() + owned_low_.size(); }

 private:
  bool scaled() const noexcept { return type_ == VectorType::kI8 || type_ == VectorType::kI10; }
  bool finite(std::size_t ordinal) const noexcept;

  VectorType type_ = VectorType::kF32;
  std::size_t count_ = 0;
  std::size_t dimension_ = 0;
  std::size_t stride_ = 0;
  const std::byte* rows_ = nullptr;
  const float* scales_ = nullptr;
  const std::uint8_t* low_ = nullptr;
  Buffer<std::byte> owned_rows_;
  Buffer<std::byte> owned_scales_;
  Buffer<std::byte> owned_low_;
  std::shared_ptr<const void> owner_;
};

}  // namespace lorekeep::vector
