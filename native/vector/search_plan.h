// Which branch a search takes, from numbers that are known before it starts, and whether a walk under a filter can be
// trusted, from what it found.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/top_k.h"

namespace lorekeep::vector {

/// Distances per unit of width that a walk computes (measured: 17 at ef 64 and M 16, fewer above).
inline constexpr double kVisitsPerEf = 17;
/// What a row of a scan costs in visits of a walk: it knows its next rows, and keeps no frontier (measured: 0.5).
inline constexpr double kScanCost = 0.5;
/// The same of a row that has a sketch (measured: 3 to 6 ns, and 45 for one in ten that is scored on its codes).
inline constexpr double kSketchCost = 0.12;
/// How many times a walk's cost an exact answer is worth under a filter, where a walk may turn out unsound.
inline constexpr double kExactWorth = 2;

/// The width of a walk that is to find the k nearest of matching rows among `size`, where an unfiltered one has width
/// `ef`. The k-th of them is about the (k / share)-th of all rows; the walk keeps the same margin behind it, and half
/// as much again, because ranks scatter and a filter must not cost recall. `ef` itself exactly when all rows match.
inline std::size_t filtered_ef(std::size_t size, std::size_t matched, std::size_t ef, std::size_t k) noexcept {
  if (matched >= size) return ef;
  if (matched == 0) return ef + 1;
  const double skipped = static_cast<double>(k) * (static_cast<double>(size) / static_cast<double>(matched) - 1);
  const double width = 1.5 * (static_cast<double>(ef) + skipped);
  return std::max(ef + 1, static_cast<std::size_t>(std::min(width, static_cast<double>(size))));
}

/// Whether a scan of the `matched` of `size` rows is the better choice than a walk of that width.
inline bool scan_is_better(std::size_t size, std::size_t matched, std::size_t width) noexcept {
  const double worth = matched < size ? kExactWorth : 1;
  return kScanCost * static_cast<double>(matched) <= worth * kVisitsPerEf * static_cast<double>(width);
}

/// Whether what a search by cells has left, `rows`, is.
inline bool cells_are_better(std::size_t rows, std::size_t width, bool sketched) noexcept {
  const double cost = sketched ? kSketchCost : kScanCost;
  return cost * static_cast<double>(rows) <= kVisitsPerEf * static_cast<double>(width);
}

/// Least growth of distance with rank, as below, at which a walk finds what is near.
inline constexpr double kLeastContrast = 0.15;

/// Whether there is ground behind the `rank`-th row found, at distance `wanted`: `last` is the distance of the
/// `count`-th.
///
/// Ground: the slope of log distance over log rank from there to the end,
/// which is the inverse of the local intrinsic dimension (Levina and Bickel, 2004; here from two points). A graph leads
/// to what is near only while it gets nearer by going there. Past the edge of a tight cluster that a filter has emptied
/// all rows are about equally far, and which of them are nearest is beyond a walk: measured on 100,000 clustered rows,
/// recall was 0.99 and more where the slope exceeded 0.15, and from 0.4 to 0.9 below 0.1.
inline bool has_ground(float wanted, std::size_t rank, float last, std::size_t count) noexcept {
  constexpr float kSame = 1e-6f;
  return std::log(std::max(last, kSame) / std::max(wanted, kSame)) >=
         static_cast<float>(kLeastContrast * std::log(static_cast<double>(count) / static_cast<double>(rank)));
}

/// Whether a walk that found `found`, nearest first, has room and ground behind its `rank`-th row, the last one wanted.
/// Room: at least half of `margin` rows more.
inline bool walk_is_sound(std::span<const Scored> found, std::size_t rank, std::size_t margin) noexcept {
  if (rank == 0 || rank > found.size() || 2 * (found.size() - rank) < margin) return false;
  if (rank == found.size()) return true;  // no margin was asked for
  return has_ground(found[rank - 1].score, rank, found.back().score, found.size());
}

}  // namespace lorekeep::vector
