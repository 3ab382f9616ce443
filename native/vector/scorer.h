// Distances from one vector to rows of a matrix, many at a time: the inner loop of every search and of the build.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vector/distance.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

class Scorer {
 public:
  /// Scores a query of `matrix.dimension()` values and any length; normalises it. The matrix must outlive the scorer.
  /// Throws Error(kDimensionMismatch), Error(kInvalidArgument) for NaN and infinity.
  Scorer(const VectorMatrix& matrix, std::span<const float> query);
  /// Scores a row of the matrix itself.
  Scorer(const VectorMatrix& matrix, std::size_t ordinal);
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  std::size_t size() const noexcept { return matrix_.size(); }
  /// Returns the length of (query - its code); 0 if the query is not encoded.
  float code_error() const noexcept { return code_error_; }
  /// Returns the cosine distance in [0, 2]. Precondition here and below: ordinals < matrix.size(), unchecked.
  float distance(std::uint32_t ordinal) const noexcept;
  /// Sets `out[i]` to distance(ordinals[i]), to the bit. Prefetches; call prefetch() on the first rows for full speed.
  void distances(const std::uint32_t* ordinals, std::size_t count, float* out) const noexcept;
  /// The same for the rows first, first + 1, ...
  void distances_from(std::uint32_t first, std::size_t count, float* out) const noexcept;
  /// Prefetches the beginning of a row to be scored soon, or the low bits of an i10 row whose codes were just read.
  void prefetch(std::uint32_t ordinal) const noexcept;
  /// Prefetches a whole row into the second-level cache, for many rows that will be scored a microsecond or more later.
  void stream(std::uint32_t ordinal) const noexcept;

 private:
  template <class Score4, class OrdinalAt>
  void score(std::size_t count, float* out, OrdinalAt&& at, Score4&& score4) const noexcept;
  template <class T>
  std::array<const T*, 4> rows_as(const std::uint32_t group[4]) const noexcept;
  template <class OrdinalAt>
  void dispatch(std::size_t count, float* out, OrdinalAt&& at) const noexcept;
  float ten_bit_distance(std::uint32_t ordinal) const noexcept;
  void prefetch_row(std::uint32_t ordinal) const noexcept;
  void prefetch_low(std::uint32_t ordinal) const noexcept;

  const VectorMatrix& matrix_;
  const DistanceKernels& kernels_;
  std::vector<std::byte> storage_;    // the query in the kernels' format, unless it is a row
  const std::byte* query_ = nullptr;  // f32 values, codes for i8 rows
  float scale_ = 0;                   // of the query's codes
  float code_error_ = 0;
};

}  // namespace lorekeep::vector
