#include "vector/cell_ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lorekeep::vector {
namespace {

constexpr std::size_t kBuckets = 256;
constexpr double kMaxStddevsPerRadius = 1e6;  // in a damaged file

// Another thread takes up to 40 µs to wake, so it gets fewer cells: 4 of 9.
constexpr std::size_t kCellsOfShare = 9;
constexpr std::size_t kCellsGivenAway = 4;

/// Estimates the standard deviation per radius of a cell from a sample of rows; it depends on the query. It is 1 if all
/// rows of the sample are at their centres: no row is nearer than its centre by more than its distance
/// from it.
float stddev_per_radius(const Cells& cells, const Scorer& codes, std::span<const float> centre_distances) {
  const auto& [ordinals, numbers] = cells.sample();
  std::vector<float> distances(ordinals.size());
  codes.distances(ordinals.data(), ordinals.size(), distances.data());
  double squares = 0;
  double radii = 0;
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    const double lead_over_centre = static_cast<double>(centre_distances[numbers[i]]) - distances[i];
    const double radius = cells.radii()[numbers[i]];
    squares += lead_over_centre * lead_over_centre;
    radii += radius * radius;
  }
  return radii > 0 ? static_cast<float>(std::min(std::sqrt(squares / radii), kMaxStddevsPerRadius)) : 1.0f;
}

}  // namespace

std::vector<RankedCell> survey_cells(const Cells& cells, const Scorer& codes, std::span<const float> query) {
  std::vector<float> distances(cells.size());
  Scorer(cells.centres(), query).distances_from(0, distances.size(), distances.data());
  const float stddev = stddev_per_radius(cells, codes, distances);
  std::vector<RankedCell> surveyed;
  surveyed.reserve(distances.size());
  for (std::uint32_t i = 0; i < distances.size(); ++i) surveyed.push_back({distances[i], stddev * cells.radii()[i], i});
  return surveyed;
}

/// Sorts only to a 256th of the range: a full sort would take as long as the rest of many searches.
CellRanking::CellRanking(const Cells& cells, const std::vector<RankedCell>& surveyed, float margin_stddevs)
    : cells_(cells), margin_stddevs_(margin_stddevs), order_(surveyed.size()) {
  std::vector<float> lower_bounds(surveyed.size());
  for (std::size_t i = 0; i < lower_bounds.size(); ++i) {
    lower_bounds[i] = surveyed[i].centre_distance - margin_stddevs_ * surveyed[i].stddev;
  }
  const auto [nearest, furthest] = std::minmax_element(lower_bounds.begin(), lower_bounds.end());
  const float least = *nearest;
  const float scale = *furthest > least ? static_cast<float>(kBuckets - 1) / (*furthest - least) : 0.0f;
  const auto bucket_of = [&](float bound) {
    return std::min(static_cast<std::size_t>((bound - least) * scale), kBuckets - 1);
  };
  std::size_t ends[kBuckets + 1] = {};
  for (float bound : lower_bounds) ++ends[bucket_of(bound) + 1];
  std::partial_sum(ends, ends + kBuckets + 1, ends);
  for (std::size_t i = 0; i < surveyed.size(); ++i) order_[ends[bucket_of(lower_bounds[i])]++] = surveyed[i];
}

/// Returns true for NaN, which a damaged file can cause.
bool CellRanking::may_hold(const RankedCell& cell, float furthest) const noexcept {
  return !(cell.centre_distance - margin_stddevs_ * cell.stddev > furthest);
}

std::optional<RankedCell> CellRanking::next(float furthest) {
  while (next_ > 0 || margin_stddevs_ > ruled_out_to_) {
    if (next_ == 0) pass_margin_ = margin_stddevs_;
    while (next_ < order_.size()) {
      const RankedCell cell = order_[next_++];
      if (may_hold(cell, furthest)) return cell;
      order_[passed_over_++] = cell;
    }
    order_.resize(passed_over_);
    next_ = passed_over_ = 0;
    ruled_out_to_ = pass_margin_;  // the margin may have grown during the pass
  }
  return std::nullopt;
}

std::size_t CellRanking::rows_left(float furthest) const noexcept {
  const auto starts = cells_.starts();
  std::size_t rows = 0;
  for (std::size_t i = next_; i < order_.size(); ++i) {
    const std::uint32_t cell = order_[i].number;
    if (may_hold(order_[i], furthest)) rows += starts[cell + 1] - starts[cell];
  }
  return rows;
}

CellRanking CellRanking::split_off() {
  CellRanking part(cells_);
  part.margin_stddevs_ = margin_stddevs_;
  std::size_t kept = next_;
  for (std::size_t i = next_; i < order_.size(); ++i) {
    if (i % kCellsOfShare < kCellsGivenAway) {
      part.order_.push_back(order_[i]);
    } else {
      order_[kept++] = order_[i];
    }
  }
  order_.resize(kept);
  return part;
}

void CellRanking::take_back(const CellRanking& part) {
  margin_stddevs_ = std::max(margin_stddevs_, part.margin_stddevs_);
  order_.insert(order_.end(), part.order_.begin(), part.order_.end());
  next_ = passed_over_ = 0;
  ruled_out_to_ = std::min(ruled_out_to_, part.ruled_out_to_);
}

void CellRanking::expect_lead_over_centre(float lead_over_centre) noexcept {
  margin_stddevs_ = std::max(margin_stddevs_, lead_over_centre + kStddevsBeyondFound);
}

}  // namespace lorekeep::vector
