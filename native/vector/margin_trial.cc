#include "vector/margin_trial.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "vector/cell_ranking.h"

namespace lorekeep::vector {
namespace {

constexpr float kNoStddev = 1e-6f;

// Ranks are all taken up to this one, then every fourth up to four times as many, and so on.
constexpr std::size_t kFirstRanks = 40;
constexpr std::size_t kThinning = 4;
constexpr std::size_t kMaxRanks = 2560;

class Replay {
 public:
  Replay(std::span<const TrialRow> rows, std::size_t k, const GraphView& graph, Margins margins)
      : rows_(rows),
        k_(std::min(k, rows.size())),
        graph_(graph),
        margins_(margins),
        order_(rows.size()),
        scanned_(rows.size()),
        found_(rows.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      const float bound_a = lower_bound(a);
      const float bound_b = lower_bound(b);
      return bound_a != bound_b ? bound_a < bound_b : a < b;
    });
  }

  std::size_t run() {
    do {
      while (scan()) learn_leads();
    } while (look_beyond());
    return static_cast<std::size_t>(std::count(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(k_), true));
  }

 private:
  float lower_bound(std::size_t i) const noexcept {
    return rows_[i].centre_distance - margins_.cells * rows_[i].cell_stddev;
  }

  /// Returns the place of the k-th found row; rows_.size() if fewer were found.
  std::size_t last_wanted() const noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i] && (count += rows_[i].weight) >= k_) return i;
    }
    return found_.size();
  }

  float furthest() const noexcept {
    const std::size_t last = last_wanted();
    return last < rows_.size() ? rows_[last].distance : std::numeric_limits<float>::infinity();
  }

  /// Scores the rows of cells that were not skipped. Returns whether there were any.
  bool scan() {
    bool any = false;
    float furthest = this->furthest();
    for (const std::size_t i : order_) {
      if (scanned_[i] || lower_bound(i) > furthest) continue;
      scanned_[i] = any = true;
      if (rows_[i].likely - margins_.sketches * rows_[i].likely_stddev > furthest) continue;
      found_[i] = true;
      furthest = this->furthest();
    }
    return any;
  }

  void learn_leads() noexcept {
    const std::size_t end = std::min(last_wanted() + 1, rows_.size());
    for (std::size_t i = 0; i < end; ++i) {
      const TrialRow& row = rows_[i];
      if (!found_[i] || row.cell_stddev <= kNoStddev) continue;
      const float lead_over_centre = (row.centre_distance - row.distance) / row.cell_stddev;
      margins_.cells = std::max(margins_.cells, lead_over_centre + kStddevsBeyondFound);
    }
  }

  /// Adds missed rows that are neighbours of the k nearest found ones. Returns whether there were any.
  bool look_beyond() {
    const std::size_t last = last_wanted();
    if (last == rows_.size()) return false;
    std::vector<std::size_t> reached;
    for (std::size_t i = 0; i < last; ++i) {
      if (!found_[i] && has_found_neighbour(i, last)) reached.push_back(i);
    }
    for (const std::size_t i : reached) found_[i] = scanned_[i] = true;
    if (!reached.empty()) margins_.cells *= kWiderMargin;
    return !reached.empty();
  }

  bool has_found_neighbour(std::size_t missed, std::size_t last) const noexcept {
    for (std::size_t i = 0; i <= last; ++i) {
      if (!found_[i]) continue;
      const std::uint32_t* const list = graph_.base_list(rows_[i].ordinal);
      const std::uint32_t* const end = list + graph_.base_stride;
      if (std::find(list, end, rows_[missed].ordinal) != end) return true;
    }
    return false;
  }

  const std::span<const TrialRow> rows_;
  const std::size_t k_;
  const GraphView& graph_;
  Margins margins_;
  std::vector<std::size_t> order_;  // by lower bound
  std::vector<bool> scanned_;
  std::vector<bool> found_;
};

}  // namespace

std::vector<std::size_t> trial_ranks(std::size_t rows) {
  std::vector<std::size_t> ranks;
  std::size_t step = 1;
  std::size_t end = kFirstRanks;
  for (std::size_t rank = 0; rank < std::min(rows, kMaxRanks); rank += step) {
    if (rank >= end) {
      step *= kThinning;
      end *= kThinning;
    }
    ranks.push_back(rank);
  }
  return ranks;
}

std::size_t replay_scan(std::span<const TrialRow> rows, std::size_t k, const GraphView& graph, Margins margins) {
  return rows.empty() ? 0 : Replay(rows, k, graph, margins).run();
}

}  // namespace lorekeep::vector
