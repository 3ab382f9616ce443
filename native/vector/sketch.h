// Sketches: one bit per dimension of every row, to rule rows out in a scan. One cache line per row; codes have six.
//
// A row's residual from the centre of its cell (cells.h) is rotated at random, so that the error of its signs is
// isotropic. The sign bits times one factor per row then estimate dot products without bias, and the standard deviation
// of the error is known. After Gao and Long: RaBitQ (SIGMOD 2024).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/work.h"
#include "core/values/buffer.h"
#include "vector/cells.h"
#include "vector/distance.h"
#include "vector/ten_bit.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

/// Codes of fewer dimensions fill at most three cache lines, so sketches would save too little.
inline constexpr std::size_t kMinSketchedDimension = 192;

/// Stored after the bits of a row. The residual is row - centre; the mean is over all rows.
struct SketchNumbers {
  float base;  // residual . mean
  float
      factor;  // estimate of residual . x: factor * (sum of the values of the rotated x, each with the residual's sign)
  float stddev;  // standard deviation of that estimate's error, per length of x
};

/// Returns the bytes from one row to the next: whole cache lines.
constexpr std::size_t sketch_stride(std::size_t dimension) noexcept {
  return (whole_groups(dimension) / 8 + sizeof(SketchNumbers) + 63) / 64 * 64;
}

/// A fixed rotation of vectors of one dimension, padded with zeros to a multiple of 64: rounds of sign flips, fast
/// Walsh-Hadamard transforms of blocks, and a shuffle of the blocks' values.
class Rotation {
 public:
  Rotation() = default;
  explicit Rotation(std::size_t dimension);
  std::size_t width() const noexcept { return width_; }
  /// Rotates width() values in place; `spare` has the same size.
  void apply(float* values, float* spare) const noexcept;

 private:
  static constexpr std::size_t kRounds = 3;
  std::size_t width_ = 0;
  std::size_t block_ = 0;     // the largest power of two that divides width_
  std::vector<float> flips_;  // kRounds * width_ of +-1, scaled so that lengths stay
};

/// One sketch per row, in the order of the cells' members, so that rows read together are stored together.
class Sketches {
 public:
  Sketches() = default;
  /// Encodes rows of any type. Grain of cancellation: a cell.
  static Sketches encode(const VectorMatrix& rows, const Cells& cells, const Work& work);
  /// Views other memory: `mean` has `dimension` values, `rows` count * sketch_stride() bytes.
  static Sketches view(std::size_t count, std::size_t dimension, const float* mean, const std::byte* rows,
                       std::shared_ptr<const void> owner);

  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }
  std::size_t dimension() const noexcept { return dimension_; }
  std::size_t stride() const noexcept { return stride_; }
  /// The mean of all rows. Queries are taken relative to it, which reduces errors if the rows are off-centre.
  std::span<const float> mean() const noexcept { return {mean_, empty() ? 0 : dimension_}; }
  std::span<const std::byte> row_bytes() const noexcept { return {rows_, count_ * stride_}; }
  const Rotation& rotation() const noexcept { return rotation_; }
  std::size_t bytes() const noexcept { return row_bytes().size() + mean().size_bytes(); }
  std::size_t heap_bytes() const noexcept { return owned_rows_.size() + owned_mean_.size(); }

 private:
  void encode_residual(std::size_t place, std::span<const float> residual, std::vector<float>& spare);

  std::size_t count_ = 0;
  std::size_t dimension_ = 0;
  std::size_t stride_ = 0;
  Rotation rotation_;
  const float* mean_ = nullptr;
  const std::byte* rows_ = nullptr;
  Buffer<std::byte> owned_rows_;
  Buffer<std::byte> owned_mean_;
  std::shared_ptr<const void> owner_;
};

/// A query prepared for comparison with sketches.
class SketchQuery {
 public:
  /// `query` has any length. Throws as Scorer does. The sketches must outlive this.
  SketchQuery(const Sketches& sketches, std::span<const float> query);
  SketchQuery(const SketchQuery&) = delete;
  SketchQuery& operator=(const SketchQuery&) = delete;

  /// Returns whether this CPU has a kernel; without one a scan of codes is faster.
  static bool fast() noexcept;

  /// Estimates the distance of the row at each place: likely[i] is the estimate, lower_bounds[i] the estimate minus
  /// `margin` standard deviations of its error. centre_distances[i] is the distance of its cell's centre (1 - query .
  /// centre). Distances here are not clamped to [0, 2].
  void estimate(const std::uint32_t* places, const float* centre_distances, std::size_t count, float margin,
                float* likely, float* lower_bounds) const noexcept;

 private:
  std::vector<std::int8_t> integers_;  // the rotated query's values
  float length_ = 0;                   // of query - mean
  SketchTask task_{};
};

/// The portable reference for DistanceKernels::estimate_sketches.
void estimate_sketches_plainly(const SketchTask& task, const std::uint32_t* places, const float* centre_distances,
                               std::size_t count, float* likely, float* lower_bounds) noexcept;

}  // namespace lorekeep::vector
