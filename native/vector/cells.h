// The rows of an index in groups of near ones, each around its centre: what a search under a filter ranks before it
// looks at rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/bitmap.h"
#include "core/work.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

/// Fewer rows, or fewer that a filter lets through, are scanned by their codes as quickly, and that is exact.
inline constexpr std::size_t kLeastCelledRows = 2048;

class Cells {
 public:
  Cells() = default;
  /// Of i8 rows, by spherical k-means from seeds that lie far apart; the same however many threads take part. Grain of
  /// cancellation: 64 rows, and one seed.
  static Cells build(const VectorMatrix& rows, const Work& work);

  /// What cells that lie elsewhere consist of.
  struct Memory {
    VectorMatrix centres;                    // i8; means of rows of length 1, so mostly shorter
    std::span<const std::uint32_t> starts;   // size() + 1
    std::span<const std::uint32_t> members;  // every row once
    std::span<const float> radii;            // size()
    std::shared_ptr<const void> owner;       // keeps the memory alive
  };
  /// Throws Error(kCorrupt) naming `source` unless every row is in one cell and the radii are lengths.
  static Cells view(Memory memory, std::string_view source);

  bool empty() const noexcept { return memory_.members.empty(); }
  std::size_t size() const noexcept { return memory_.radii.size(); }
  const VectorMatrix& centres() const noexcept { return memory_.centres; }
  /// Members of cell i are those at the places [starts[i], starts[i + 1]).
  std::span<const std::uint32_t> starts() const noexcept { return memory_.starts; }
  /// By cell, in each by ordinal.
  std::span<const std::uint32_t> members() const noexcept { return memory_.members; }
  /// A set of rows, by place. Grain of cancellation: 4096 places.
  Bitmap to_cell_order(const Bitmap& ordinals, const CancelToken* cancel) const;
  /// Root mean square of the distances (Euclid's) of a cell's members from its centre.
  std::span<const float> radii() const noexcept { return memory_.radii; }
  std::size_t bytes() const noexcept {
    return memory_.centres.bytes() + memory_.starts.size_bytes() + memory_.members.size_bytes() +
           memory_.radii.size_bytes();
  }
  /// Heap bytes; those of the centres only where they are owned.
  std::size_t heap_bytes() const noexcept;

  /// Some rows, evenly spread over the cells, by which the spread of all of them is judged.
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
