// Scans many matching rows cell by cell (cells.h): ranks the cells (cell_ranking.h), gathers the matching rows of
// promising cells (cell_gathering.h) and scores them (cell_scoring.h).
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/work.h"
#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "vector/cells.h"
#include "vector/graph.h"
#include "vector/scorer.h"
#include "vector/sketch.h"

namespace lorekeep::vector {

struct CellQuery {
  const Cells& cells;
  const GraphView& graph;    // of the same rows
  const Sketches* sketches;  // null: score every gathered row on its codes
  const Scorer& codes;       // of the query, over the codes of the same rows
  std::span<const float> query;
  std::size_t k;
  float cell_margin;                   // for skipping cells, in standard deviations (calibration.h)
  float sketch_margin;                 // for ruling out rows, in standard deviations of their sketches
  float surprise;                      // standard deviations by which a row nearer than its sketch says is a surprise
  float code_error;                    // largest difference between a distance and the codes' distance
  const Bitmap& filter;                // of cells.members().size() bits
  const Bitmap* filter_in_cell_order;  // Cells::to_cell_order(); null: unknown
  std::size_t matched;                 // members of the filter
  float limit = std::numeric_limits<float>::infinity();  // rows farther than this are not wanted
  Work work = {};                                        // an idle thread shares a long scan; polled every 1024 rows
};

class CellRanking;
class CellGathering;
class CellScoring;
struct SharedScan;

class CellScan {
 public:
  /// Ranks the cells. Everything referenced by the query must outlive this.
  explicit CellScan(const CellQuery& query);
  ~CellScan();
  CellScan(const CellScan&) = delete;
  CellScan& operator=(const CellScan&) = delete;

  /// Scores the matching rows of the nearest remaining cells. Returns false once no cell may contain a nearest row.
  bool advance();
  /// Advances to the end, on two threads with separate cells if much is left, with the same result.
  void share_rest();
  /// Call once advance() has returned false. Adds graph neighbours of the k nearest rows that belong to the k nearest
  /// too. Returns whether there were any; then more cells may contain near rows, and advance() continues.
  bool look_beyond();
  /// Returns whether the k nearest rows were nearer than their sketches said more often than normal errors explain:
  /// then the sketches may have ruled out others.
  bool sketches_mislead() const noexcept;
  /// Estimates how many matching rows advance() may still score, assuming an even spread of the filter over the cells.
  std::size_t rows_left() const noexcept;
  /// Returns whether the cells nearest to the query, with `rows` rows or more together, contain at least half of the
  /// matching rows that they would contain if the filter were spread evenly.
  bool matches_are_near(std::size_t rows) const;
  /// Returns the number of distances computed, of any precision.
  std::size_t visited() const noexcept;

  /// Call once advance() has returned false. Returns the rows that may be among the k nearest matching ones, at least
  /// min(k, matched), with their codes' distances, in any order.
  std::vector<Scored> rows() const;

 private:
  CellScan(const CellQuery& query, CellRanking ranking, CellScoring scoring);
  void learn_lead();

  const CellQuery& query_;
  std::shared_ptr<const SharedScan> shared_;  // null in a part of a shared scan
  std::unique_ptr<CellRanking> ranking_;
  std::unique_ptr<CellGathering> gathering_;
  std::unique_ptr<CellScoring> scoring_;
  std::size_t surveyed_ = 0;         // distances computed to rank the cells
  std::size_t without_matches_ = 0;  // cells before the first one with a matching row
};

}  // namespace lorekeep::vector
