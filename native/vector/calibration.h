// Calibration of an index on its own rows when it is built: how wide its searches must be to find 99 % of the nearest.
//
// The rules that end an approximate search assume that the graph leads to near rows, that rows are spread evenly around
// the centres of their cells, and that the errors of sketches are normal. How far this holds depends on the
// vectors, so the margins are measured: of walks by rows that the walk leaves out, of scans by queries near the rows,
// with held-back filters that are independent of the cells, follow them, or exclude the nearest.
#pragma once

#include <cstddef>

#include "core/threads/work.h"

namespace lorekeep::vector {

class HnswIndex;

struct Calibration {
  /// Width of a walk in units of default_ef(); 0: no width is worth it, and searches scan instead (search_plan.h).
  float walk_factor = 1;
  /// Margin for skipping cells, in standard deviations (cell_ranking.h).
  float cell_margin = 3.9f;
  /// Margin for ruling out rows by their sketches, in standard deviations.
  float sketch_margin = 2.6f;

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

inline constexpr float kMaxWalkFactor = 64;
inline constexpr float kMaxMargin = 1000;

/// Returns the margins with which the index finds the nearest rows of its own queries. Takes about as long as 1,500
/// exact searches. The result depends on the index only. Grain of cancellation: one query.
Calibration calibrate(const HnswIndex& index, const Work& work);

}  // namespace lorekeep::vector
