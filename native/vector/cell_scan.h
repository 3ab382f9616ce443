// The search of many rows that a filter lets through, cell by cell (cells.h): cells that hold nothing near are passed
// over, most rows of the others are ruled out by their sketches, and what is left is scored on its codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/bitmap.h"
#include "core/cancel_token.h"
#include "core/top_k.h"
#include "vector/cells.h"
#include "vector/graph_search.h"
#include "vector/scorer.h"
#include "vector/sketch.h"

namespace lorekeep::vector {

/// A row that is among the k nearest is missed with the probability that the estimate of its sketch is further off than
/// so many standard deviations: 0.4 % for one that only just belongs, far less for the others.
inline constexpr float kSketchMargin = 2.65f;

struct CellQuery {
  const Cells& cells;
  const GraphView& graph;    // of the same rows
  const Sketches* sketches;  // null: every row that is looked at is scored on its codes
  const Scorer& codes;       // of the query, over the codes of the same rows
  std::span<const float> query;
  std::size_t k;
  float code_error;                     // the most by which a distance differs from that of codes
  const Bitmap& filter;                 // of cells.members().size() bits
  std::size_t matched;                  // its members
  const CancelToken* cancel = nullptr;  // polled every 1024 rows
};

class CellScan {
 public:
  /// Ranks the cells. What the query refers to must outlive this.
  CellScan(const CellQuery& query, SearchWork& work);
  CellScan(const CellScan&) = delete;
  CellScan& operator=(const CellScan&) = delete;

  /// Looks at the nearest cells that were not looked at. Returns false once there are none that may hold one
  /// of the k nearest rows.
  bool advance();
  /// Once advance() has returned false: whether neighbours in the graph of the k nearest rows found are among them,
  /// too, and lie in cells that were passed over. They are taken, and advance() looks further.
  bool look_beyond();
  /// How many matching rows advance() may have yet to look at, where the filter is spread evenly over the cells.
  std::size_t rows_left() const noexcept;

  /// What may be among the k nearest rows of the filter, at least min(k, members) of them, by their codes' distance,
  /// nearest first. Once advance() has returned false.
  std::vector<Scored> take();

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

  float measure_spread() const;
  void sort_cells();
  bool may_hold(std::uint32_t cell) const noexcept;
  void gather(std::size_t rows);
  void gather(std::uint32_t cell);
  void prefetch_next() const noexcept;
  void look_at_gathered();
  void score_likeliest();
  void score(std::span<const Pending> rows);
  void keep(float distance, std::uint32_t ordinal, float lead);
  void learn_margin();
  float limit() const noexcept;

  const CellQuery& query_;
  SearchWork& work_;
  std::vector<float> origins_;        // distance of every cell's centre
  float spread_ = 0;                  // standard deviation of (row - centre) . query, per radius of the cell
  float margin_;                      // so many spreads nearer than its centre a row of a cell may be
  std::vector<std::uint32_t> order_;  // cells that were not looked at, about nearest first
  std::size_t next_ = 0;              // in order_: those before were passed over in this pass
  std::size_t passed_over_ = 0;       // and are the first so many
  bool looked_ = false;               // at a cell in this pass

  // Matching rows of some cells. The vectors have room for more.
  std::size_t gathered_ = 0;
  std::vector<std::uint32_t> places_;
  std::vector<float> origins_of_places_;
  std::vector<std::uint32_t> cells_of_places_;
  std::vector<float> likely_;
  std::vector<float> bounds_;
  std::vector<std::uint32_t> picked_;
  std::optional<SketchQuery> sketch_query_;

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
