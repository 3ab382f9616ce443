// Gathers the matching rows of some cells in the layout that the sketch kernels read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/values/bitmap.h"
#include "vector/cell_ranking.h"
#include "vector/cells.h"

namespace lorekeep::vector {

class CellGathering {
 public:
  /// `filter` has a bit per row. `in_cell_order`: the same by place (Cells::to_cell_order()); null: unknown.
  CellGathering(const Cells& cells, const Bitmap& filter, const Bitmap* in_cell_order) noexcept
      : cells_(cells), filter_(filter), in_cell_order_(in_cell_order) {}

  void clear() noexcept {
    size_ = 0;
    groups_.clear();
  }
  /// Appends the matching rows of a cell. `following`, if any, is prefetched.
  void add(const RankedCell& cell, const RankedCell* following);

  std::size_t size() const noexcept { return size_; }
  const std::uint32_t* places() const noexcept { return places_.data(); }
  /// For each place, the distance of its cell's centre.
  const float* centre_distances() const noexcept { return centre_distances_.data(); }
  /// The places of one cell are those before `end`, from the end of the cell before.
  struct Group {
    std::uint32_t cell;
    std::size_t end;
  };
  std::span<const Group> groups() const noexcept { return groups_; }
  std::uint32_t ordinal(std::size_t i) const noexcept { return cells_.members()[places_[i]]; }

 private:
  std::size_t append_matching(std::uint32_t begin, std::uint32_t end) noexcept;
  std::size_t append_in_cell_order(std::uint32_t begin, std::uint32_t end) noexcept;
  void prefetch_members(const RankedCell& cell) const noexcept;

  const Cells& cells_;
  const Bitmap& filter_;
  const Bitmap* in_cell_order_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> places_;  // each vector may have spare room
  std::vector<float> centre_distances_;
  std::vector<Group> groups_;
};

/// Prefetches a cache line.
inline void prefetch_line(const void* at) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(at);
#endif
}
inline constexpr std::size_t kOrdinalsPerLine = 16;

}  // namespace lorekeep::vector
