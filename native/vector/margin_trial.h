// Replays a scan of cells for one query of known answer, to learn which margins find its nearest rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vector/graph.h"

namespace lorekeep::vector {

/// A matching row, as a scan sees it.
struct TrialRow {
  std::uint32_t ordinal;
  std::uint32_t weight;  // number of rows of about its distance that it represents
  float distance;        // by codes
  float centre_distance;
  float cell_stddev;    // RankedCell::stddev
  float likely;         // estimated by its sketch; the distance, without sketches
  float likely_stddev;  // of the error of `likely`
};

/// Returns the ranks of the rows that represent the nearest 2,560 of `rows`: each of the first 40, then fewer
/// and fewer. Their weights are the distances to the next ranks.
std::vector<std::size_t> trial_ranks(std::size_t rows);

struct Margins {
  float cells;     // CellQuery::cell_margin
  float sketches;  // CellQuery::sketch_margin
};

/// Returns how many of the `k` nearest rows a scan with these margins finds. `rows`: by distance, k or more of them;
/// the first k have weight 1.
///
/// The replay follows CellScan: rows come by the lower bounds of their cells; the k-th found distance rules cells and
/// rows out; the margin for cells grows with the leads of found rows over their centres, and when the graph leads to a
/// missed row.
std::size_t replay_scan(std::span<const TrialRow> rows, std::size_t k, const GraphView& graph, Margins margins);

}  // namespace lorekeep::vector
