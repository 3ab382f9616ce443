// Sketches: the rotation keeps lengths, kernels agree with their slow twin, and errors are as large as they are said to
// be.
#include "vector/sketch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>

#include "sample_vectors.h"
#include "vector/cell_scan.h"

namespace lorekeep::vector {
namespace {

constexpr float kMargin = 2.1f;

std::vector<std::uint32_t> all_ordinals(std::size_t count) {
  std::vector<std::uint32_t> ordinals(count);
  std::iota(ordinals.begin(), ordinals.end(), 0u);
  return ordinals;
}

/// Rows with their cells and sketches.
struct Sample {
  Sample(std::span<const float> values, std::size_t dimension)
      : rows(VectorMatrix::encode(values, dimension, VectorType::kF32)),
        cells(Cells::build(VectorMatrix::encode(values, dimension, VectorType::kI8), {})),
        sketches(Sketches::encode(rows, cells, {})) {}

  /// Distance of the centre of the cell of each place.
  std::vector<float> centre_distances(std::span<const float> query) const {
    std::vector<float> of_cells(cells.size());
    Scorer(cells.centres(), query).distances_from(0, cells.size(), of_cells.data());
    std::vector<float> centre_distances;
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      centre_distances.resize(cells.starts()[cell + 1], of_cells[cell]);
    return centre_distances;
  }

  VectorMatrix rows;
  Cells cells;
  Sketches sketches;
};

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

TEST("sketches: every set of kernels but the scalar one has one for them") {
  for (const DistanceKernels* set : available_kernels()) {
    CHECK_EQ(set->estimate_sketches != nullptr, std::string_view(set->name) != "scalar");
  }
}

TEST("sketches: every set of kernels estimates what its slow twin does") {
  for (std::size_t dimension : {1u, 63u, 64u, 192u, 200u, 384u, 512u, 513u, 768u, 1024u, 1100u, 1536u}) {
    constexpr std::size_t kRows = 41;
    const auto rows = test::normal_values(kRows * dimension, test::seed());
    const Sample sample(rows, dimension);
    std::mt19937_64 random(test::seed());
    std::vector<std::int8_t> query(whole_groups(dimension));
    for (auto& value : query) value = static_cast<std::int8_t>(static_cast<std::int32_t>(random() % 43) - 21);
    SketchTask task{};
    task.query = query.data();
    task.rows = sample.sketches.row_bytes().data();
    task.stride = sample.sketches.stride();
    task.words = whole_groups(dimension) / 64;
    task.sum = 17;
    task.step = 0.01f;
    task.reach = 2.5f;
    std::vector<std::uint32_t> places(kRows);  // in no order, some of them again
    for (auto& place : places) place = static_cast<std::uint32_t>(random() % kRows);
    std::vector<float> centre_distances(kRows);
    for (std::size_t i = 0; i < kRows; ++i) centre_distances[i] = 1 + 0.01f * static_cast<float>(i);
    std::vector<float> likely(kRows);
    std::vector<float> nearest(kRows);
    estimate_sketches_plainly(task, places.data(), centre_distances.data(), kRows, likely.data(), nearest.data());
    for (const DistanceKernels* set : available_kernels()) {
      if (set->estimate_sketches == nullptr) continue;
      for (std::size_t count = 0; count <= kRows; ++count) {
        const std::vector<std::uint32_t> wanted(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count));
        const std::vector<float> own(centre_distances.begin(),
                                     centre_distances.begin() + static_cast<std::ptrdiff_t>(count));
        std::vector<float> found(2 * (count + 1), -7.0f);
        set->estimate_sketches(task, wanted.data(), own.data(), count, found.data(), found.data() + count + 1);
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

TEST("sketches: every set of kernels adds up the same integers, the largest too") {
  constexpr std::size_t kRows = 9;
  constexpr std::int32_t kLargest = kLargestOfSketchQuery;
  std::mt19937_64 random(test::seed());
  for (std::size_t words = 1; words <= 25; ++words) {
    SketchTask task{};
    task.words = words;
    task.stride = sketch_stride(64 * words);
    task.step = 1;
    auto rows = Buffer<std::byte>::zeroed(kRows * task.stride);
    task.rows = rows.data();
    const SketchNumbers numbers{0, 1, 0};
    for (std::size_t i = 0; i < kRows; ++i) {
      std::byte* const row = rows.data() + i * task.stride;
      for (std::size_t word = 0; word < words; ++word) {
        const std::uint64_t bits = i == 0 ? 0 : i == 1 ? ~std::uint64_t{0} : random();
        std::memcpy(row + word * sizeof(bits), &bits, sizeof(bits));
      }
      std::memcpy(row + words * sizeof(std::uint64_t), &numbers, sizeof(numbers));
    }
    const auto places = all_ordinals(kRows);
    const std::vector<float> centre_distances(kRows);
    std::vector<float> expected(kRows);
    std::vector<float> found(kRows);
    std::vector<float> nearest(kRows);
    for (int kind = 0; kind < 3; ++kind) {
      std::vector<std::int8_t> query(64 * words);
      for (auto& value : query) {
        const auto any = static_cast<std::int32_t>(random() % (2 * kLargest + 1)) - kLargest;
        value = static_cast<std::int8_t>(kind == 0 ? kLargest : kind == 1 ? -kLargest : any);
      }
      task.query = query.data();
      task.sum = std::accumulate(query.begin(), query.end(), 0);
      estimate_sketches_plainly(task, places.data(), centre_distances.data(), kRows, expected.data(), nearest.data());
      CHECK_EQ(expected[0], static_cast<float>(task.sum));
      CHECK_EQ(expected[1], static_cast<float>(-task.sum));
      for (const DistanceKernels* set : available_kernels()) {
        if (set->estimate_sketches == nullptr) continue;
        set->estimate_sketches(task, places.data(), centre_distances.data(), kRows, found.data(), nearest.data());
        CHECK(found == expected);
        CHECK(nearest == expected);
      }
    }
  }
}

TEST("sketches: every set of kernels picks the bounds that do not exceed a limit, and NaN") {
  std::mt19937_64 random(test::seed());
  constexpr float kLimit = 0.5f;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t count = 0; count <= 70; ++count) {
    for (const unsigned near_of_64 : {0u, 3u, 32u, 64u}) {
      std::vector<float> bounds(count);
      std::vector<std::uint32_t> expected;
      for (std::size_t i = 0; i < count; ++i) {
        const bool near = random() % 64 < near_of_64;
        const float values[] = {near ? kLimit : 0.75f, near ? -1.0f : std::nextafter(kLimit, 1.0f), near ? kNan : 3.0f};
        bounds[i] = values[random() % 3];
        if (near) expected.push_back(static_cast<std::uint32_t>(i));
      }
      for (const DistanceKernels* set : available_kernels()) {
        std::vector<std::uint32_t> found(count + 1, 7'000'000u);
        const std::size_t size = set->pick(bounds.data(), count, kLimit, found.data());
        CHECK_EQ(found[count], 7'000'000u);  // nothing is written beyond
        CHECK_EQ(size, expected.size());
        CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
      }
    }
  }
}

TEST("sketches: estimates are off by as much as they say, for rows around a point far from zero too") {
  constexpr std::size_t kRows = 4000;
  constexpr std::size_t kDimension = 200;
  constexpr std::size_t kQueries = 5;
  for (float shift : {0.0f, 2.0f}) {
    auto values = test::normal_values((kRows + kQueries) * kDimension, test::seed());
    for (float& value : values) value += shift;
    const std::span<const float> all(values);
    const Sample sample(all.first(kRows * kDimension), kDimension);
    const auto places = all_ordinals(kRows);
    std::vector<float> likely(kRows);
    std::vector<float> nearest(kRows);
    std::vector<float> exact(kRows);
    double errors = 0;
    double beyond = 0;
    double squares = 0;
    for (std::size_t q = 0; q < kQueries; ++q) {
      const auto query = all.subspan((kRows + q) * kDimension, kDimension);
      SketchQuery(sample.sketches, query)
          .estimate(places.data(), sample.centre_distances(query).data(), kRows, 1, likely.data(), nearest.data());
      Scorer(sample.rows, query).distances(sample.cells.members().data(), kRows, exact.data());
      for (std::size_t i = 0; i < kRows; ++i) {
        const double error = (exact[i] - likely[i]) / (likely[i] - nearest[i]);
        errors += error;
        squares += error * error;
        beyond += error < -static_cast<double>(kMargin) ? 1 : 0;
      }
    }
    constexpr double kAll = kRows * kQueries;
    CHECK(std::fabs(errors / kAll) < 0.1);
    CHECK(std::sqrt(squares / kAll) > 0.85 && std::sqrt(squares / kAll) < 1.15);
    CHECK(beyond / kAll < 0.03);  // 0.018 of a normal distribution
  }
}

TEST("sketches: rows that are all the same, or zero, have no deviation and no error") {
  for (float value : {0.0f, 1.0f}) {
    const std::vector<float> values(3000 * 192, value);
    const Sample sample(values, 192);
    const auto places = all_ordinals(3000);
    const auto query = std::span(values).first(192);
    std::vector<float> likely(3000);
    std::vector<float> nearest(3000);
    SketchQuery(sample.sketches, query)
        .estimate(places.data(), sample.centre_distances(query).data(), 3000, kMargin, likely.data(), nearest.data());
    for (std::size_t i = 0; i < 3000; ++i) {
      CHECK(std::fabs(likely[i] - (1 - value)) < 1e-2f && std::fabs(nearest[i] - (1 - value)) < 1e-2f);
    }
  }
}

TEST("sketches: they are the same however many threads make them") {
  const auto values = test::normal_values(3000 * 192, test::seed());
  const Sample sample(values, 192);
  ThreadPool pool(3);
  const Sketches shared = Sketches::encode(sample.rows, sample.cells, {&pool, 4});
  CHECK(std::ranges::equal(sample.sketches.row_bytes(), shared.row_bytes()));
  CHECK(std::ranges::equal(sample.sketches.mean(), shared.mean()));
}

}  // namespace
}  // namespace lorekeep::vector
