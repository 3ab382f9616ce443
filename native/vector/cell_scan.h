// The search of many matching rows, cell by cell (cells.h): cells are ranked (cell_ranking.h), the matching rows of
// those that may hold near ones are gathered (cell_gathering.h) and scored (cell_scoring.h).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/bitmap.h"
#include "core/top_k.h"
#include "core/work.h"
#include "vector/cells.h"
#include "vector/graph.h"
#include "vector/scorer.h"
#include "vector/sketch.h"

namespace lorekeep::vector {

/// A row among the k nearest is missed with the probability that the estimate of its sketch is off by more standard
/// deviations than this: 1.8 % for one that only just belongs, far less for the others.
inline constexpr float kSketchMarginStddevs = 2.1f;

struct CellQuery {
  const Cells& cells;
  const GraphView& graph;    // of the same rows
  const Sketches* sketches;  // null: every gathered row is scored on its codes
  const Scorer& codes;       // of the query, over the codes of the same rows
  std::span<const float> query;
  std::size_t k;
  float code_error;                    // the most that a distance may differ from that of codes
  const Bitmap& filter;                // of cells.members().size() bits
  const Bitmap* filter_in_cell_order;  // Cells::to_cell_order(); null: not known
  std::size_t matched;                 // members of the filter
  Work work = {};                      // an idle thread helps with a long scan; polled every 1024 rows
};

class CellRanking;
class CellGathering;
class CellScoring;

class CellScan {
 public:
  /// Ranks the cells. Everything that the query refers to must outlive this.
  explicit CellScan(const CellQuery& query);
  ~CellScan();
  CellScan(const CellScan&) = delete;
  CellScan& operator=(const CellScan&) = delete;

  /// Scores the matching rows of the nearest cells left. Returns false once no cell may hold one of the k nearest rows.
  bool advance();
  /// If much is left, advances to the end on two threads, each with cells of its own. The result is the same whether
  /// another thread takes part or not.
  void share_rest();
  /// Once advance() has returned false: takes neighbours, in the graph, of the k nearest rows that are among them too.
  /// Returns whether there were any; then more cells may hold near rows, and advance() continues.
  bool look_beyond();
  /// The matching rows that advance() may have yet to score, if the filter is spread evenly over the cells.
  std::size_t rows_left() const noexcept;
  /// Distances computed, of whatever precision.
  std::size_t visited() const noexcept;

  /// Once advance() has returned false: the rows that may be among the k nearest matching ones, at least
  /// min(k, matched) of them, with their codes' distances, in any order.
  std::vector<Scored> rows() const;

 private:
  CellScan(const CellQuery& query, CellRanking ranking, CellScoring scoring);
  void learn_lead();

  const CellQuery& query_;
  std::unique_ptr<CellRanking> ranking_;
  std::unique_ptr<CellGathering> gathering_;
  std::unique_ptr<CellScoring> scoring_;
  std::size_t surveyed_ = 0;  // distances computed to rank the cells
};

}  // namespace lorekeep::vector
