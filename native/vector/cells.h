// Clusters the rows of an index into cells around centres. A filtered search ranks cells before it scans rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/threads/work.h"
#include "core/values/bitmap.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

/// With fewer rows or fewer matching rows, an exact scan of all codes is as fast.
inline constexpr std::size_t kMinCelledRows = 2048;

class Cells {
 public:
  Cells() = default;
  /// Clusters i8 rows by spherical k-means, from seeds that are far apart. The result does not depend on the number of
  /// threads. Grain of cancellation: 64 rows, and one seed.
  static Cells build(const VectorMatrix& rows, const Work& work);

  /// The arrays of cells, for example in a mapped file.
  struct Memory {
    VectorMatrix centres;                    // i8; means of rows of length 1, so usually shorter
    std::span<const std::uint32_t> starts;   // size() + 1
    std::span<const std::uint32_t> members;  // every row once
    std::span<const float> radii;            // size()
    std::shared_ptr<const void> owner;       // keeps the memory alive
  };
  /// Throws Error(kCorrupt) naming `source` unless every row is in exactly one cell and all radii are in [0, 2].
  static Cells view(Memory memory, std::string_view source);

  bool empty() const noexcept { return memory_.members.empty(); }
  std::size_t size() const noexcept { return memory_.radii.size(); }
  const VectorMatrix& centres() const noexcept { return memory_.centres; }
  /// The members of cell i are at the places [starts[i], starts[i + 1]).
  std::span<const std::uint32_t> starts() const noexcept { return memory_.starts; }
  /// Sorted by cell, then by ordinal.
  std::span<const std::uint32_t> members() const noexcept { return memory_.members; }
  /// Converts a set of rows from ordinals to places. Grain of cancellation: 4096 places.
  Bitmap to_cell_order(const Bitmap& ordinals, const CancelToken* cancel) const;
  /// Root mean square of the Euclidean distances of a cell's members from its centre.
  std::span<const float> radii() const noexcept { return memory_.radii; }
  std::size_t bytes() const noexcept {
    return memory_.centres.bytes() + memory_.starts.size_bytes() + memory_.members.size_bytes() +
           memory_.radii.size_bytes();
  }
  /// Heap bytes; centres count only if they are owned.
  std::size_t heap_bytes() const noexcept;

  /// Some rows, evenly spread over the cells, for estimating the standard deviation of all rows.
  struct Sample {
    std::vector<std::uint32_t> ordinals;
    std::vector<std::uint32_t> cells;
  };
  const Sample& sample() const noexcept { return sample_; }

 private:
  struct Owned;

  void take_sample();

  Memory memory_;
  Sample sample_;
  std::shared_ptr<const Owned> owned_;
};

}  // namespace lorekeep::vector
