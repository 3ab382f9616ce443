// The order in which a search looks at cells: by the least distance that their rows may have to the query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vector/cells.h"
#include "vector/scorer.h"

namespace lorekeep::vector {

struct RankedCell {
  float centre_distance;
  float stddev;  // of (row - centre) . query, over the cell's rows
  std::uint32_t number;
};

/// The cells as a query sees them, by number. `codes` scores the query over the codes of all rows. Scores every centre
/// and the rows of cells.sample().
std::vector<RankedCell> survey_cells(const Cells& cells, const Scorer& codes, std::span<const float> query);

/// Cells that were not looked at, about nearest first. A cell is passed over while its rows would have to be nearer
/// than its centre by more than a margin of standard deviations; the margin grows with the rows that are found.
class CellRanking {
 public:
  CellRanking(const Cells& cells, const std::vector<RankedCell>& surveyed);

  /// The next cell that may hold a row nearer than `furthest`. Nothing once a whole pass found no such cell.
  std::optional<RankedCell> next(float furthest);
  /// The cell that next() considers after the last one; null at the end of a pass.
  const RankedCell* peek() const noexcept { return next_ < order_.size() ? &order_[next_] : nullptr; }
  /// Rows of the cells that next() may still return.
  std::size_t rows_left(float furthest) const noexcept;

  /// Moves a share of the cells left, for another thread to look at.
  CellRanking split_off();
  /// Takes back the cells that a split-off ranking passed over, with its margin. All count as not considered again,
  /// because the margin may have grown.
  void take_back(const CellRanking& part);

  /// Some row found is nearer than its centre by this many standard deviations.
  void expect_lead(float lead_over_centre) noexcept;
  /// The graph led to a row that was passed over.
  void widen() noexcept;

 private:
  explicit CellRanking(const Cells& cells) noexcept : cells_(cells) {}
  bool may_hold(const RankedCell& cell, float furthest) const noexcept;

  const Cells& cells_;
  float margin_stddevs_;
  std::vector<RankedCell> order_;
  std::size_t next_ = 0;         // in order_: those before were passed over in this pass,
  std::size_t passed_over_ = 0;  // and are the first ones
  bool returned_ = false;        // a cell in this pass
};

}  // namespace lorekeep::vector
