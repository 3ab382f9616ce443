// Calibration: on rows that break the assumptions of approximate searches, recall is kept, and rises with ef.
#include "vector/calibration.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "sample_vectors.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"
#include "vector/recall_report.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kSampleDimension = 192;
constexpr std::size_t kSampleQueries = 30;

/// Overlapping clusters whose residuals lie in five dimensions, with heavy tails.
std::vector<float> thin_clusters(std::size_t rows) {
  constexpr std::size_t kClusters = 40;
  constexpr std::size_t kLocal = 5;
  const auto centres = test::normal_values(kClusters * kSampleDimension, test::seed());
  const auto axes = test::normal_values(kClusters * kLocal * kSampleDimension, test::seed() + 1);
  std::mt19937_64 random(test::seed());
  std::normal_distribution<float> normal;
  std::vector<float> values;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t cluster = random() % kClusters;
    const float length = 0.5f / std::max(0.1f, std::abs(normal(random)));
    std::vector<float> at(centres.begin() + static_cast<std::ptrdiff_t>(cluster * kSampleDimension),
                          centres.begin() + static_cast<std::ptrdiff_t>((cluster + 1) * kSampleDimension));
    for (std::size_t axis = 0; axis < kLocal; ++axis) {
      const float step = length * normal(random);
      for (std::size_t j = 0; j < kSampleDimension; ++j)
        at[j] += step * axes[(cluster * kLocal + axis) * kSampleDimension + j];
    }
    values.insert(values.end(), at.begin(), at.end());
  }
  return values;
}

/// Returns the recall@10 of searches without a filter for the rows of `data` after the first `rows`.
double unfiltered_recall(const HnswIndex& index, std::span<const float> data, std::size_t rows,
                         const SearchOptions& options) {
  const std::size_t dimension = index.dimension();
  const std::size_t queries = data.size() / dimension - rows;
  std::size_t found = 0;
  for (std::size_t q = 0; q < queries; ++q) {
    const auto query = data.subspan((rows + q) * dimension, dimension);
    const auto truth = index.search(query, {.path = SearchPath::kExact}).hits;
    for (const Scored& hit : index.search(query, options).hits) found += hit.score <= truth.back().score ? 1 : 0;
  }
  return static_cast<double>(found) / static_cast<double>(10 * queries);
}

TEST("calibration: an isotropic cloud is scanned by cells, and recall rises with ef") {
  constexpr std::size_t kRows = 8000;
  const auto values = test::normal_values((kRows + kSampleQueries) * kSampleDimension, test::seed());
  const std::span<const float> all(values);
  const auto index = HnswIndex::build(all.first(kRows * kSampleDimension), kSampleDimension,
                                      {{.m = 4, .ef_construction = 20}, VectorType::kF32});
  CHECK_EQ(index->parts().calibration.walk_factor, 0.0f);
  for (const std::size_t ef : {0, 48, 192}) {
    CHECK(index->search(all.first(kSampleDimension), {.ef = ef}).plan.path == SearchPath::kCells);
  }
  const double usual = unfiltered_recall(*index, all, kRows, {});
  CHECK(usual >= 0.98);
  CHECK(unfiltered_recall(*index, all, kRows, {.ef = 24}) <= usual);
  CHECK(unfiltered_recall(*index, all, kRows, {.ef = 4000}) >= usual);
}

LONG_TEST("calibration: recall without a filter is kept on small clusters, which walks may miss as a whole") {
  constexpr std::size_t kRows = 12000;
  constexpr std::size_t kQueries = 100;
  constexpr std::size_t kRowsPerCluster = 7;
  constexpr std::size_t kLocal = 10;
  constexpr std::size_t kClusters = kRows / kRowsPerCluster;
  const auto centres = test::normal_values(kClusters * kSampleDimension, test::seed());
  const auto axes = test::normal_values(kClusters * kLocal * kSampleDimension, test::seed() + 1);
  const auto steps = test::normal_values((kRows + kQueries) * kLocal, test::seed() + 2);
  std::vector<float> values((kRows + kQueries) * kSampleDimension);
  for (std::size_t row = 0; row < kRows + kQueries; ++row) {
    const std::size_t cluster = row % kClusters;
    for (std::size_t j = 0; j < kSampleDimension; ++j) {
      float& value = values[row * kSampleDimension + j];
      value = centres[cluster * kSampleDimension + j];
      for (std::size_t axis = 0; axis < kLocal; ++axis) {
        value += 0.3f * steps[row * kLocal + axis] * axes[(cluster * kLocal + axis) * kSampleDimension + j];
      }
    }
  }
  const std::span<const float> all(values);
  const auto index = HnswIndex::build(all.first(kRows * kSampleDimension), kSampleDimension,
                                      {{.m = 16, .ef_construction = 100}, VectorType::kF32});
  CHECK(unfiltered_recall(*index, all, kRows, {}) >= 0.99);
}

TEST("calibration: scans by cells find the nearest rows of narrow clusters, which codes tell apart badly") {
  constexpr std::size_t kRows = 6000;
  constexpr std::size_t kQueries = 100;
  constexpr std::size_t kClusters = 30;
  auto values = test::normal_values((kRows + kQueries + kClusters) * kSampleDimension, test::seed());
  constexpr std::size_t kEnd = (kRows + kQueries) * kSampleDimension;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= (i < kEnd ? 0.05f : 1.0f) / std::sqrt(static_cast<float>(i % kSampleDimension + 1));
  }
  for (std::size_t i = 0; i < kEnd; ++i) {
    const std::size_t cluster = i / kSampleDimension % kClusters;
    values[i] += values[kEnd + cluster * kSampleDimension + i % kSampleDimension];
  }
  const auto all = std::span<const float>(values).first(kEnd);
  const auto index = HnswIndex::build(all.first(kRows * kSampleDimension), kSampleDimension,
                                      {{.m = 8, .ef_construction = 60}, VectorType::kF32});
  CHECK(unfiltered_recall(*index, all, kRows, {.path = SearchPath::kCells}) >= 0.99);
}

TEST("search: a row that is left out is in no result, and the rest is as without it") {
  const std::size_t count = test::repetitions(2500, 5000);
  const auto values = test::clustered_rows(count, kSampleDimension, 50, test::seed());
  const auto index = HnswIndex::build(values, kSampleDimension, {});
  const auto flat = FlatIndex::build(values, kSampleDimension, VectorType::kF32);
  for (std::uint32_t row = 0; row < count; row += 100) {
    const auto query = std::span(values).subspan(row * kSampleDimension, kSampleDimension);
    auto truth = flat->search(query, {.k = 11}).hits;
    CHECK_EQ(truth.front().ordinal, row);
    truth.erase(truth.begin());
    CHECK(flat->search(query, {.without = row}).hits == truth);
    CHECK(index->search(query, {.path = SearchPath::kExact, .without = row}).hits == truth);
    for (const SearchPath path : {SearchPath::kGraph, SearchPath::kCells}) {
      const auto hits = index->search(query, {.path = path, .without = row}).hits;
      CHECK_EQ(hits.size(), 10u);
      CHECK(std::none_of(hits.begin(), hits.end(), [row](const Scored& hit) { return hit.ordinal == row; }));
      CHECK(test::recall(hits, truth) >= 0.5);
    }
  }
}

TEST("calibration: recall under filters is kept on thin overlapping clusters, and rises with ef in cells") {
  constexpr std::size_t kRows = 8000;
  const auto values = thin_clusters(kRows + kSampleQueries);
  const std::span<const float> all(values);
  const auto index = HnswIndex::build(all.first(kRows * kSampleDimension), kSampleDimension,
                                      {{.m = 8, .ef_construction = 60}, VectorType::kF32});
  std::mt19937_64 random(test::seed());
  const Bitmap filter = test::random_filter(kRows, 0.5, random);
  const auto recall = [&](std::size_t ef) {
    std::size_t found = 0;
    for (std::size_t q = 0; q < kSampleQueries; ++q) {
      const auto query = all.subspan((kRows + q) * kSampleDimension, kSampleDimension);
      const SearchOptions options{.ef = ef, .filter = &filter, .path = SearchPath::kCells};
      const auto truth = index->search(query, {.filter = &filter, .path = SearchPath::kExact}).hits;
      for (const Scored& hit : index->search(query, options).hits) found += hit.score <= truth.back().score ? 1 : 0;
    }
    return static_cast<double>(found) / (10 * kSampleQueries);
  };
  const double narrow = recall(4);
  const double usual = recall(0);
  CHECK(usual >= 0.99);
  CHECK(narrow <= usual);
  CHECK(recall(4000) >= usual);
  for (std::size_t q = 0; q < kSampleQueries; ++q) {
    const auto query = all.subspan((kRows + q) * kSampleDimension, kSampleDimension);
    const auto plan = [&](std::size_t ef) { return index->search(query, {.ef = ef, .filter = &filter}).plan; };
    CHECK(!plan(12).exact);  // normal errors of sketches are no reason to scan every row
  }
  for (const RecallCell& cell : report_recall(*index, {.queries = 16})) CHECK(cell.recall >= 0.97);
}

}  // namespace
}  // namespace lorekeep::vector
