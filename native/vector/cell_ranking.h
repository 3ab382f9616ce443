// Ranks cells by a lower bound of the distance of their rows to the query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vector/cells.h"
#include "vector/scorer.h"

namespace lorekeep::vector {

/// The margin covers the largest lead of a found row over its centre, and this many standard deviations more.
inline constexpr float kStddevsBeyondFound = 0.5f;
/// Factor of the margin when the graph leads to a row in a skipped cell.
inline constexpr float kWiderMargin = 1.5f;
/// A filter is opposed to a query if the nearest of this many cells, one in eight, contain no matching row. The nearest
/// matching rows are then nearer than the centres of many equally far cells, by more, so the margin has this factor.
inline constexpr std::size_t kCellsPerNearOne = 8;
inline constexpr float kOpposedMargin = 1.25f;

struct RankedCell {
  float centre_distance;
  float stddev;  // of (row - centre) . query, over the cell's rows
  std::uint32_t number;
};

/// Returns the cells with their distances to the query, by number. `codes` scores the query over the codes of all rows.
/// Scores every centre and the rows of cells.sample().
std::vector<RankedCell> survey_cells(const Cells& cells, const Scorer& codes, std::span<const float> query);

/// The cells that were not scanned, roughly nearest first. Skips a cell as long as its rows would have to be nearer
/// than its centre by more than a margin of standard deviations. The margin grows with the found rows.
class CellRanking {
 public:
  /// Starts with this margin.
  CellRanking(const Cells& cells, const std::vector<RankedCell>& surveyed, float margin_stddevs);

  /// Returns the next cell that may contain a row nearer than `furthest`; nullopt if there is none. Precondition:
  /// `furthest` never grows from call to call.
  std::optional<RankedCell> next(float furthest);
  /// Returns the cell that next() considers next; null at the end of a pass.
  const RankedCell* peek() const noexcept { return next_ < order_.size() ? &order_[next_] : nullptr; }
  /// Returns the number of rows in the cells that next() may still return.
  std::size_t rows_left(float furthest) const noexcept;

  /// Moves a share of the remaining cells into a ranking for another thread.
  CellRanking split_off();
  /// Takes back the cells that a split-off ranking skipped, with its margin. All cells will be considered again,
  /// because the margin may have grown.
  void take_back(const CellRanking& part);

  /// Reports that a found row is nearer than its centre by this many standard deviations.
  void expect_lead_over_centre(float lead_over_centre) noexcept;
  /// Reports that the graph led to a row in a skipped cell.
  void widen() noexcept { margin_stddevs_ *= kWiderMargin; }
  /// Reports that the filter is opposed to the query.
  void oppose() noexcept { margin_stddevs_ *= kOpposedMargin; }

 private:
  explicit CellRanking(const Cells& cells) noexcept : cells_(cells) {}
  bool may_hold(const RankedCell& cell, float furthest) const noexcept;

  const Cells& cells_;
  float margin_stddevs_;
  std::vector<RankedCell> order_;
  std::size_t next_ = 0;         // in order_
  std::size_t passed_over_ = 0;  // cells skipped in this pass: the first ones of order_
  float pass_margin_ = 0;        // with which this pass began: it ruled out the skipped cells
  float ruled_out_to_ = -1;      // the margin with which all cells are ruled out
};

}  // namespace lorekeep::vector
