// Sketches: the rotation keeps lengths, kernels agree with their slow twin, errors are as large as they are said to be,
// and what a scan by sketches misses of the nearest rows is next to nothing.
#include "vector/sketch.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "sample_vectors.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"
#include "vector/sketched_scan.h"

namespace lorekeep::vector {
namespace {

std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<std::uint32_t> all_ordinals(std::size_t count) {
  std::vector<std::uint32_t> ordinals(count);
  std::iota(ordinals.begin(), ordinals.end(), 0u);
  return ordinals;
}

TEST("sketches: the rotation keeps lengths and spreads a single value over all others") {
  for (std::size_t dimension : {1u, 64u, 100u, 192u, 384u, 1000u}) {
    const Rotation rotation(dimension);
    std::vector<float> values(2 * rotation.width());
    values[dimension / 2] = 2;
    rotation.apply(values.data(), values.data() + rotation.width());
    double squares = 0;
    float largest = 0;
    for (std::size_t i = 0; i < rotation.width(); ++i) {
      squares += static_cast<double>(values[i]) * values[i];
      largest = std::max(largest, std::fabs(values[i]));
    }
    CHECK(std::fabs(squares - 4) < 1e-4);
    CHECK(largest <= 1);
  }
}

TEST("sketches: every set of kernels estimates what its slow twin does") {
  for (std::size_t dimension : {1u, 63u, 64u, 384u, 512u, 513u, 1100u}) {
    constexpr std::size_t kRows = 41;
    const auto rows = normal_values(kRows * dimension, test::seed());
    const auto matrix = VectorMatrix::encode(rows, dimension, VectorType::kF32);
    const Sketches sketches = Sketches::encode(matrix, nullptr, 1, nullptr);
    const auto planes = normal_values(whole_groups(dimension) / 8, test::seed() + 1);  // 4 words of bits per 64 values
    SketchTask task{};
    task.planes = reinterpret_cast<const std::uint64_t*>(planes.data());
    task.rows = sketches.row_bytes().data();
    task.stride = sketches.stride();
    task.words = whole_groups(dimension) / 64;
    task.sum = 17;
    task.step = 0.01f;
    task.origin = 1.25f;
    task.reach = 2.5f;
    auto ordinals = all_ordinals(kRows);
    std::reverse(ordinals.begin(), ordinals.end());
    std::vector<float> likely(kRows);
    std::vector<float> nearest(kRows);
    estimate_sketches_plainly(task, ordinals.data(), kRows, likely.data(), nearest.data());
    for (const Kernels* set : available_kernels()) {
      if (set->estimate_sketches == nullptr) continue;
      for (std::size_t count = 1; count <= kRows; ++count) {
        std::vector<float> found(2 * (count + 1), -7.0f);
        set->estimate_sketches(task, ordinals.data(), count, found.data(), found.data() + count + 1);
        for (std::size_t i = 0; i < count; ++i) {
          CHECK(std::fabs(found[i] - likely[i]) < 1e-4f);
          CHECK(std::fabs(found[count + 1 + i] - nearest[i]) < 1e-4f);
        }
        CHECK_EQ(found[count], -7.0f);  // nothing is written beyond
        CHECK_EQ(found[2 * count + 1], -7.0f);
      }
    }
  }
}

TEST("sketches: estimates are off by as much as they say, for rows around a point far from zero too") {
  constexpr std::size_t kRows = 4000;
  constexpr std::size_t kDimension = 200;
  constexpr std::size_t kQueries = 5;
  for (float shift : {0.0f, 2.0f}) {
    auto rows = normal_values((kRows + kQueries) * kDimension, test::seed());
    for (float& value : rows) value += shift;
    const std::span<const float> all(rows);
    const auto matrix = VectorMatrix::encode(all.first(kRows * kDimension), kDimension, VectorType::kF32);
    const Sketches sketches = Sketches::encode(matrix, nullptr, 1, nullptr);
    const auto ordinals = all_ordinals(kRows);
    std::vector<float> likely(kRows);
    std::vector<float> nearest(kRows);
    std::vector<float> exact(kRows);
    double errors = 0;
    double beyond = 0;
    double squares = 0;
    for (std::size_t q = 0; q < kQueries; ++q) {
      const auto query = all.subspan((kRows + q) * kDimension, kDimension);
      SketchQuery(sketches, query).estimate(ordinals.data(), kRows, 1, likely.data(), nearest.data());
      Scorer(matrix, query).distances(ordinals.data(), kRows, exact.data());
      for (std::size_t i = 0; i < kRows; ++i) {
        const double error = (exact[i] - likely[i]) / (likely[i] - nearest[i]);
        errors += error;
        squares += error * error;
        beyond += error < -static_cast<double>(kSketchMargin) ? 1 : 0;
      }
    }
    constexpr double kAll = kRows * kQueries;
    CHECK(std::fabs(errors / kAll) < 0.1);
    CHECK(std::sqrt(squares / kAll) > 0.85 && std::sqrt(squares / kAll) < 1.15);
    CHECK(beyond / kAll < 0.01);
  }
}

TEST("sketches: rows that are all the same, or zero, have no spread and no error") {
  for (float value : {0.0f, 1.0f}) {
    const std::vector<float> rows(3000 * 192, value);
    const auto matrix = VectorMatrix::encode(rows, 192, VectorType::kF32);
    const Sketches sketches = Sketches::encode(matrix, nullptr, 1, nullptr);
    const auto ordinals = all_ordinals(3000);
    std::vector<float> likely(3000);
    std::vector<float> nearest(3000);
    SketchQuery(sketches, std::span(rows).first(192))
        .estimate(ordinals.data(), 3000, kSketchMargin, likely.data(), nearest.data());
    for (std::size_t i = 0; i < 3000; ++i) {
      CHECK(std::fabs(likely[i] - (1 - value)) < 1e-3f && std::fabs(nearest[i] - (1 - value)) < 1e-3f);
    }
  }
}

TEST("sketches: they are the same however many threads make them") {
  const auto rows = normal_values(3000 * 192, test::seed());
  const auto matrix = VectorMatrix::encode(rows, 192, VectorType::kF32);
  ThreadPool pool(3);
  const Sketches alone = Sketches::encode(matrix, nullptr, 1, nullptr);
  const Sketches shared = Sketches::encode(matrix, &pool, 4, nullptr);
  CHECK(std::ranges::equal(alone.row_bytes(), shared.row_bytes()));
  CHECK(std::ranges::equal(alone.centre(), shared.centre()));
}

TEST("sketches: a scan by them finds the nearest rows of a filter, clustered rows or rows without any structure") {
  constexpr std::size_t kRows = 8000;
  constexpr std::size_t kDimension = 200;
  constexpr std::size_t kQueries = 40;
  for (bool clustered : {true, false}) {
    const auto data = clustered ? test::clustered_rows(kRows + kQueries, kDimension, 40, test::seed())
                                : normal_values((kRows + kQueries) * kDimension, test::seed());
    const std::span<const float> all(data);
    const auto rows = all.first(kRows * kDimension);
    const auto index = HnswIndex::build(rows, kDimension, {{.m = 8, .ef_construction = 20}, VectorType::kF32});
    const auto truth = FlatIndex::build(rows, kDimension);
    std::mt19937_64 random(test::seed());
    double recall = 0;
    for (std::size_t q = 0; q < kQueries; ++q) {
      const auto query = all.subspan((kRows + q) * kDimension, kDimension);
      const Bitmap filter = test::random_filter(kRows, 0.4, random);
      const SearchResult found = index->search(query, {.filter = &filter});
      const auto wanted = truth->search(query, {.filter = &filter}).hits;
      CHECK_EQ(found.hits.size(), 10u);
      CHECK(std::is_sorted(found.hits.begin(), found.hits.end(), NearestFirst()));
      for (const Scored& hit : found.hits) CHECK(filter.test(hit.ordinal));
      CHECK(found.plan.path == SearchPath::kExact);
      CHECK_EQ(found.plan.exact, !SketchQuery::fast());  // what may have been missed is not called exact
      CHECK(index->search(query, {.filter = &filter}).hits == found.hits);
      CHECK(index->search(query, {.filter = &filter, .path = SearchPath::kExact}).hits == wanted);
      recall += test::recall(found.hits, wanted) / kQueries;
    }
    CHECK(recall >= 0.99);
  }
}

TEST("sketches: numbers that a damaged file holds give wrong results at worst") {
  constexpr std::size_t kDimension = 192;
  constexpr std::size_t kRows = 3000;
  const auto rows = normal_values(kRows * kDimension, test::seed());
  const auto matrix = VectorMatrix::encode(rows, kDimension, VectorType::kF32);
  const auto codes = VectorMatrix::encode(rows, kDimension, VectorType::kI8);
  const Sketches good = Sketches::encode(matrix, nullptr, 1, nullptr);
  const Bitmap filter(kRows, true);
  for (std::size_t damaged : {std::size_t{1}, std::size_t{2}, kRows}) {  // every row, every other one, the first
    std::vector<std::byte> bytes(good.row_bytes().begin(), good.row_bytes().end());
    const SketchNumbers broken{NAN, INFINITY, -INFINITY};
    for (std::size_t i = 0; i < kRows; i += damaged) {
      std::memcpy(bytes.data() + i * good.stride() + kDimension / 8, &broken, sizeof(broken));
    }
    const Sketches bad = Sketches::view(kRows, kDimension, good.centre().data(), bytes.data(), nullptr);
    const auto query = std::span(rows).first(kDimension);
    const Scorer scorer(codes, query);
    SearchWork work;
    const auto found = scan_sketches({bad, scorer, query, 10, 0.01f, filter}, work);
    CHECK(std::is_sorted(found.begin(), found.end(), NearestFirst()));
    CHECK_EQ(found.size() >= 10, damaged > 1);
  }
}

TEST("sketches: as many rows as match are found when more are asked for than that") {
  constexpr std::size_t kDimension = 192;
  const auto rows = normal_values(3000 * kDimension, test::seed());
  const auto index = HnswIndex::build(rows, kDimension, {{.m = 4, .ef_construction = 8}, VectorType::kF16});
  Bitmap filter(3000, true);
  for (std::size_t i = 0; i < 500; ++i) filter.reset(5 * i);
  const auto found = index->search(std::span(rows).first(kDimension), {.k = 2600, .filter = &filter});
  CHECK_EQ(found.hits.size(), 2500u);
  for (const Scored& hit : found.hits) CHECK(filter.test(hit.ordinal));
}

}  // namespace
}  // namespace lorekeep::vector
