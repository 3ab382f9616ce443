// Scores gathered rows: sketches rule most of them out, codes score the rest, and the graph leads to skipped rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/values/top_k.h"
#include "vector/cell_gathering.h"
#include "vector/cell_scan.h"
#include "vector/sketch.h"

namespace lorekeep::vector {

/// State shared by all threads of a search.
struct SharedScan {
  std::vector<RankedCell> cells;  // by number
  std::optional<SketchQuery> sketches;
};

class CellScoring {
 public:
  CellScoring(const CellQuery& query, std::shared_ptr<const SharedScan> shared);
  /// Returns a scoring that starts with the nearest rows so far, but without found rows.
  CellScoring split_off() const;
  void take_back(const CellScoring& part);

  /// Returns whether k rows were scored.
  bool full() const noexcept { return nearest_.full(); }
  /// Returns the distance by codes beyond which no further row is wanted: that of the k-th nearest row so far, or the
  /// query's limit. The limit counts once k rows were scored: their leads tell which cells may hold near rows.
  float furthest() const noexcept;
  /// Scores the gathered rows that may be among the k nearest.
  void score(const CellGathering& gathered);
  /// Adds graph neighbours of the k nearest rows that belong to the k nearest too, within the limit. Returns whether
  /// there were any.
  bool take_neighbours();
  /// Drops rows that are no longer among the nearest. Returns the greatest lead of the k nearest over their cells'
  /// centres, in standard deviations; nullopt before k rows were scored.
  std::optional<float> settle();

  /// See CellScan.
  bool sketches_mislead() const noexcept;

  std::size_t visited() const noexcept { return visited_; }
  std::vector<Scored> rows() const;

 private:
  struct Pending {
    float lower_bound;
    float likely;
    std::uint32_t place;
    std::uint32_t cell;
  };
  struct Candidate {
    Scored row;
    float lead_over_centre;  // in standard deviations of its cell
    float surprise;          // estimated minus scored distance, in standard deviations of the sketch
  };

  void estimate(const CellGathering& gathered);
  void score_likeliest();
  void score(std::span<const Pending> rows);
  void keep(const Candidate& row);
  std::vector<std::uint32_t> unexpanded();
  float limit() const noexcept;

  const CellQuery& query_;
  std::shared_ptr<const SharedScan> shared_;
  std::size_t visited_ = 0;

  std::vector<float> likely_;
  std::vector<float> lower_bounds_;
  std::vector<std::uint32_t> picked_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> ordinals_;  // rows to score
  std::vector<float> distances_;

  TopK<NearestFirst> nearest_;  // by codes
  std::vector<Candidate> found_;
  std::vector<std::uint32_t> expanded_;    // rows whose neighbours were scored, sorted
  std::vector<std::uint32_t> neighbours_;  // added rows, sorted
};

}  // namespace lorekeep::vector
