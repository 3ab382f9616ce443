// Replays of scans: which rows margins find, how margins grow, and which rows stand for the others.
#include "vector/margin_trial.h"

#include <numeric>

#include "harness.h"

namespace lorekeep::vector {
namespace {

constexpr float kNoLimit = 100;

/// A graph of `size` nodes without links.
std::vector<std::uint32_t> no_links(std::size_t size) {
  return std::vector<std::uint32_t>(size * 16, kNoNode);
}

GraphView view_of(const std::vector<std::uint32_t>& links) {
  GraphView graph;
  graph.size = links.size() / 16;
  graph.base_stride = 16;
  graph.base = links.data();
  return graph;
}

/// Twenty rows at growing distances in a cell around the query, where their sketches are exact.
std::vector<TrialRow> near_rows() {
  std::vector<TrialRow> rows;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const float distance = 0.5f + 0.01f * static_cast<float>(i);
    rows.push_back({i, 1, distance, 0.5f, 0.1f, distance, 0.05f});
  }
  return rows;
}

TEST("trial: rows of near cells are found with any margin; a far cell is scanned if the margin reaches it") {
  const auto links = no_links(20);
  auto rows = near_rows();
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {0, kNoLimit}), 10u);
  rows[4].centre_distance = 0.99f;  // the tenth distance is 0.59, the eleventh 0.60: four standard deviations nearer
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {3.8f, kNoLimit}), 9u);
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {4.1f, kNoLimit}), 10u);
}

TEST("trial: a sketch rules a row out beyond its margin") {
  const auto links = no_links(20);
  auto rows = near_rows();
  rows[4].likely = 0.7f;            // two standard deviations beyond the eleventh
  rows[4].centre_distance = 0.55f;  // its cell is the last one
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {1, 1.5f}), 9u);
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {1, 2.5f}), 10u);
}

TEST("trial: the lead of a found row widens the margin for cells") {
  const auto links = no_links(20);
  auto rows = near_rows();
  rows[0].centre_distance = 0.85f;  // leads by 3.5, and its cell is 2.5 behind the eleventh row
  rows[4].centre_distance = 0.98f;  // 3.8 behind it
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {2, kNoLimit}), 8u);
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {2.7f, kNoLimit}), 10u);
}

TEST("trial: the graph leads to a missed row, and from there on the margin is wider") {
  auto links = no_links(20);
  auto rows = near_rows();
  rows[4].centre_distance = 0.99f;
  rows[5].centre_distance = 0.89f;
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {2.5f, kNoLimit}), 8u);
  links[2 * 16] = 4;  // a neighbour of the third row
  CHECK_EQ(replay_scan(rows, 10, view_of(links), {2.5f, kNoLimit}), 10u);
}

TEST("trial: until k rows are found, no cell is skipped") {
  const auto links = no_links(20);
  auto rows = near_rows();
  for (TrialRow& row : rows) row.centre_distance = 2;
  CHECK_EQ(replay_scan(std::span(rows).first(10), 10, view_of(links), {0, kNoLimit}), 10u);
}

TEST("trial: ranks thin out, and their weights add up to the rows") {
  for (const std::size_t size : {10u, 40u, 41u, 1000u, 100000u}) {
    const auto ranks = trial_ranks(size);
    CHECK_EQ(ranks.front(), 0u);
    CHECK(std::is_sorted(ranks.begin(), ranks.end()));
    CHECK(ranks.back() < size);
    CHECK(ranks.size() <= 200);
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 40); ++i) CHECK_EQ(ranks[i], i);
  }
}

}  // namespace
}  // namespace lorekeep::vector
