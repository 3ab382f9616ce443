// The search of many rows that a filter lets through, cell by cell (cells.h): cells that hold nothing near are passed
// over, most rows of the others are ruled out by their sketches, and what is left is scored on its codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// A row that is among the k nearest is missed with the probability that the estimate of its sketch is further off than
/// so many standard deviations: 1.8 % for one that only just belongs, far less for the others.
inline constexpr float kSketchMargin = 2.1f;

struct CellQuery {
  const Cells& cells;
  const GraphView& graph;    // of the same rows
  const Sketches* sketches;  // null: every row that is looked at is scored on its codes
  const Scorer& codes;       // of the query, over the codes of the same rows
  std::span<const float> query;
  std::size_t k;
  float code_error;                    // by which a distance may differ from that of codes
  const Bitmap& filter;                // of cells.members().size() bits
  const Bitmap* filter_in_cell_order;  // the same by place (Cells::to_cell_order()); null: not known
  std::size_t matched;                 // its members
  Work work = {};                      // an idle thread helps with a long scan; polled every 1024 rows
};

class CellScan {
 public:
  /// Ranks the cells. What the query refers to must outlive this.
  explicit CellScan(const CellQuery& query);
  CellScan(const CellScan&) = delete;
  CellScan& operator=(const CellScan&) = delete;

  /// Looks at the nearest cells that were not looked at. Returns false once there are none that may hold one
  /// of the k nearest rows.
  bool advance();
  /// If much is left, looks at it on two threads, each at cells of its own. Whether another takes part or this one does
  /// it all changes nothing of what is found.
  void share_rest();
  /// Once advance() has returned false: whether neighbours in the graph of the k nearest rows found are among them,
  /// too, and lie in cells that were passed over. They are taken, and advance() looks further.
  bool look_beyond();
  /// How many matching rows advance() may have yet to look at, where the filter is spread evenly over the cells.
  std::size_t rows_left() const noexcept;
  /// Distances computed, of whatever precision.
  std::size_t visited() const noexcept { return visited_; }

  /// What may be among the k nearest rows of the filter, at least min(k, members) of them, by their codes' distance, in
  /// any order. Once advance() has returned false.
  std::vector<Scored> take() const;

 private:
  /// A matching row that was looked at but not scored.
  struct Pending {
    float nearest;  // that it may be
    float likely;
    std::uint32_t place;
    std::uint32_t cell;
  };
  struct Candidate {
    Scored row;
    float lead;  // how much nearer it is than its cell's centre, in spreads
  };

  struct Cell {
    float origin;  // distance of its centre
    float spread;  // standard deviation of (row - centre) . query
    std::uint32_t number;
  };
  /// What is known before any cell is looked at.
  struct Ground {
    std::vector<Cell> cells;  // by number
    std::optional<SketchQuery> sketches;
  };

  /// Takes some of the cells that `whole` has not looked at. Knows what `whole` has found, but not what it finds.
  explicit CellScan(CellScan& whole);
  void absorb(const CellScan& part);

  std::vector<Cell> survey();
  float measure_spread(std::span<const float> origins) const;
  void sort_cells();
  float furthest() const noexcept;
  bool may_hold(const Cell& cell, float furthest) const noexcept;
  void gather(std::size_t rows);
  void gather(const Cell& cell);
  std::size_t append_matching(std::uint32_t begin, std::uint32_t end) noexcept;
  std::size_t append_in_cell_order(std::uint32_t begin, std::uint32_t end) noexcept;
  void prefetch_next() const noexcept;
  void look_at_gathered();
  void score_likeliest();
  void score(std::span<const Pending> rows);
  void keep(float distance, std::uint32_t ordinal, float lead);
  void learn_margin();
  float limit() const noexcept;

  const CellQuery& query_;
  const std::shared_ptr<Ground> ground_;  // of all parts of a search
  std::size_t visited_ = 0;
  float margin_;                 // so many spreads nearer than its centre a row of a cell may be
  std::vector<Cell> order_;      // those that were not looked at, about nearest first
  std::size_t next_ = 0;         // in order_: those before were passed over in this pass
  std::size_t passed_over_ = 0;  // and are the first so many
  bool looked_ = false;          // at a cell in this pass

  // Matching rows of some cells. The vectors have room for more.
  std::size_t gathered_ = 0;
  std::vector<std::uint32_t> places_;
  std::vector<float> origins_of_places_;
  std::vector<std::uint32_t> cells_of_places_;
  std::vector<float> likely_;
  std::vector<float> bounds_;
  std::vector<std::uint32_t> picked_;

  std::vector<Pending> pending_;
  std::vector<std::uint32_t> ordinals_;  // to be scored
  std::vector<float> distances_;

  TopK<NearestFirst> nearest_;  // by codes, of what has been scored
  std::vector<Candidate> found_;
  std::vector<std::uint32_t> expanded_;    // whose neighbours were looked at, sorted
  std::vector<std::uint32_t> neighbours_;  // that were taken, sorted
  std::vector<std::uint32_t> fresh_;       // of both
  std::vector<std::uint32_t> known_;       // found, sorted
};

}  // namespace lorekeep::vector
