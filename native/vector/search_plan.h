// Plans a vector search: chooses its path from numbers known in advance, and whether to continue a graph search or a
// scan. "Walk" means a graph search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/values/top_k.h"
#include "vector/cells.h"
#include "vector/vector_index.h"

namespace lorekeep::vector {

/// Distances that a walk computes per unit of width (measured: 17 at ef 64 and M 16, fewer above).
inline constexpr double kVisitsPerEf = 17;
/// Cost of a scanned row in visits of a walk: a scan knows its next rows and has no frontier (measured: 0.5).
inline constexpr double kScanCost = 0.5;
/// The same for a row with a sketch (measured: 3 to 6 ns, and 45 for the tenth that is scored on its codes).
inline constexpr double kSketchCost = 0.12;
/// An exact answer under a filter may cost this many times as much as a walk, which may miss near rows.
inline constexpr double kExactWorth = 2;

/// Returns the width of a walk for the k nearest of `matched` rows among `size`, if an unfiltered walk has width `ef`.
/// The k-th match is about the (k / share)-th of all rows. The margin beyond it grows by half, because ranks scatter
/// and a filter must not cost recall. Exactly `ef` if all rows match.
inline std::size_t filtered_ef(std::size_t size, std::size_t matched, std::size_t ef, std::size_t k) noexcept {
  if (matched >= size) return ef;
  if (matched == 0) return ef + 1;
  const double skipped = static_cast<double>(k) * (static_cast<double>(size) / static_cast<double>(matched) - 1);
  const double width = 1.5 * (static_cast<double>(ef) + skipped);
  return std::max(ef + 1, static_cast<std::size_t>(std::min(width, static_cast<double>(size))));
}

/// The least width of a walk of an index that is searched with others: a narrower one may end before it comes near.
inline constexpr std::size_t kMinSharedEf = 48;

/// Returns the width of a walk of an index of `size` rows in a collection of `live` ones. Walks of all indexes meet as
/// many rows near the query as one walk of width `ef` in an index of the whole collection.
inline std::size_t shared_ef(std::size_t size, std::size_t live, std::size_t ef) noexcept {
  const double share = static_cast<double>(size) / static_cast<double>(std::max<std::size_t>(live, 1));
  const double width = std::min(static_cast<double>(ef) * share, static_cast<double>(std::max(size, ef)));
  return std::max(static_cast<std::size_t>(width), std::min(ef, std::max(kMinSharedEf, ef / 2)));
}

/// Returns the width of a walk that meets as many of `matched` rows as one of width `ef` meets of all.
inline std::size_t widened_ef(std::size_t size, std::size_t matched, std::size_t ef) noexcept {
  if (matched >= size) return ef;
  const double share = static_cast<double>(std::max<std::size_t>(matched, 1)) / static_cast<double>(size);
  const double width = std::min(static_cast<double>(ef) / share, static_cast<double>(size));
  return std::max(ef + 1, static_cast<std::size_t>(width));
}

/// Returns whether scanning `matched` of `size` rows costs less than a walk of that width.
inline bool scan_is_better(std::size_t size, std::size_t matched, std::size_t width) noexcept {
  const double worth = matched < size ? kExactWorth : 1;
  return kScanCost * static_cast<double>(matched) <= worth * kVisitsPerEf * static_cast<double>(width);
}

/// Returns whether a search with this many matching rows may scan cells.
inline bool scans_cells(bool has_cells, std::size_t size, std::size_t matched) noexcept {
  return has_cells && matched >= kMinCelledRows && matched < size;
}

/// Facts known before a search starts.
struct PlanFacts {
  SearchPath asked = SearchPath::kAuto;
  std::size_t size = 0;
  std::size_t matched = 0;
  std::size_t k = 0;
  std::size_t width = 0;  // filtered_ef()
  bool has_cells = false;
  bool mostly = false;   // SearchOptions::mostly
  bool may_walk = true;  // walks of this index reach the nearest rows
};

/// Returns the first path of a search:
///   a path was requested   this path
///   many rows match        the cells, if there are any; not if only some rows are left out
///   a scan costs less      every matching row
///   walks find near rows   the graph
///   else                   the cells if there are any and not few rows match, else every matching row
inline SearchPath choose_path(const PlanFacts& facts) noexcept {
  if (facts.asked != SearchPath::kAuto) return facts.asked;
  if (!facts.mostly && scans_cells(facts.has_cells, facts.size, facts.matched)) return SearchPath::kCells;
  if (scan_is_better(facts.mostly ? facts.matched : facts.size, facts.matched, facts.width)) return SearchPath::kExact;
  if (facts.may_walk) return SearchPath::kGraph;
  return facts.has_cells && facts.matched >= kMinCelledRows ? SearchPath::kCells : SearchPath::kExact;
}

/// Returns the path for the hits after a walk that found `found` rows: the graph if they are enough, else the cells,
/// else every matching row.
inline SearchPath after_walk(const PlanFacts& facts, std::size_t found) noexcept {
  if (found >= std::min(facts.k, facts.matched)) return SearchPath::kGraph;
  return scans_cells(facts.has_cells, facts.size, facts.matched) ? SearchPath::kCells : SearchPath::kExact;
}

enum class CellStep {
  kShareRest,  // score all remaining cells, on two threads if worthwhile
  kWalk,       // a walk costs less than the remaining cells; if it is unsound, share the rest
};

/// The step of a cell scan after which its next action is chosen. By then two thousand rows or more of the nearest
/// cells are scored, and the k-th distance is nearly final. It bounds the number of remaining rows, and two threads
/// that start from it skip nearly as many as one would.
inline constexpr std::size_t kStepOfChoice = 3;

/// Returns the action of a cell scan with about `rows_left` matching rows left. `matches_are_near()` returns whether
/// the cells nearest to the query contain matching rows; otherwise a walk would be unsound.
template <class MatchesAreNear>
CellStep after_cells(const PlanFacts& facts, std::size_t rows_left, bool sketched, MatchesAreNear&& matches_are_near) {
  if (facts.asked != SearchPath::kAuto || !facts.may_walk) return CellStep::kShareRest;
  const double cost = (sketched ? kSketchCost : kScanCost) * static_cast<double>(rows_left);
  const bool walk = cost > kVisitsPerEf * static_cast<double>(facts.width) && matches_are_near();
  return walk ? CellStep::kWalk : CellStep::kShareRest;
}

/// The least slope of log distance over log rank, as below, at which a walk finds the nearest rows.
inline constexpr double kMinContrast = 0.15;

/// Returns whether distances grow from the `rank`-th found row, at distance `wanted`, to the `count`-th, at `last`.
///
/// The slope of log distance over log rank is the inverse of the local intrinsic dimension (Levina and Bickel, 2004;
/// here from two points). A graph leads to near rows only while distances shrink on the way. Beyond the edge of a tight
/// cluster without matching rows, all rows are about equally far, and a walk cannot find the nearest. Measured on
/// 100,000 clustered rows: recall at least 0.99 if the slope exceeded 0.15, and 0.4 to 0.9 below 0.1.
inline bool distances_grow(float wanted, std::size_t rank, float last, std::size_t count) noexcept {
  constexpr float kSame = 1e-6f;
  return std::log(std::max(last, kSame) / std::max(wanted, kSame)) >=
         static_cast<float>(kMinContrast * std::log(static_cast<double>(count) / static_cast<double>(rank)));
}

/// Returns whether a walk that found `found`, nearest first, went far enough beyond its `rank`-th row, the last wanted
/// one: at least half of `margin_rows` more, over which distances grow.
inline bool walk_is_sound(std::span<const Scored> found, std::size_t rank, std::size_t margin_rows) noexcept {
  if (rank == 0 || rank > found.size() || 2 * (found.size() - rank) < margin_rows) return false;
  if (rank == found.size()) return true;  // no margin is required
  return distances_grow(found[rank - 1].score, rank, found.back().score, found.size());
}

}  // namespace lorekeep::vector
