#include "vector/ten_bit.h"

#include <random>
#include <vector>

#include "harness.h"
#include "sample_vectors.h"
#include "vector/codes.h"
#include "vector/distance.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"

namespace lorekeep::vector {
namespace {

using test::clustered_rows;

struct Encoded {
  std::vector<std::int8_t> codes;
  std::vector<std::uint8_t> low;
  float scale;

  explicit Encoded(std::span<const float> row) : codes(whole_groups(row.size())), low(low_stride(row.size())) {
    scale = encode_ten_bit(row, codes.data(), low.data());
  }
  int integer(std::size_t i) const { return ten_bit_value(codes.data(), low.data(), i); }
  float value(std::size_t i) const { return static_cast<float>(integer(i)) * scale / 4; }
};

TEST("ten bits: a row comes back at length 1 within an eighth of a code, and its codes within five eighths") {
  for (std::size_t dimension : {1, 2, 63, 64, 65, 384, 1000}) {
    const auto rows = clustered_rows(20, dimension, 3, test::seed());
    const VectorMatrix exact = VectorMatrix::encode(rows, dimension, VectorType::kF32);
    std::vector<float> unit(dimension);
    for (std::size_t r = 0; r < 20; ++r) {
      exact.decode(r, unit.data());
      const Encoded row(unit);
      double squares = 0;
      for (std::size_t i = 0; i < dimension; ++i) {
        CHECK(std::abs(row.integer(i)) <= 508);
        // Taking the length to 1 moves values by less than half a percent of the largest.
        CHECK_NEAR(row.value(i), unit[i], row.scale * (0.126 + 0.3 * (dimension > 1)));
        CHECK_NEAR(static_cast<float>(row.codes[i]) * row.scale, row.value(i), row.scale * 0.5001);
        squares += static_cast<double>(row.value(i)) * row.value(i);
      }
      CHECK_NEAR(squares, 1.0, 1e-6);
    }
  }
}

TEST("ten bits: zeros stay zeros, the largest magnitude of either sign is held, and a zero vector is one") {
  std::vector<float> values(70, 0.0f);
  CHECK_EQ(Encoded(values).scale, 0.0f);
  for (std::size_t i = 0; i < 70; ++i) CHECK_EQ(Encoded(values).integer(i), 0);
  values[3] = -1;
  values[69] = 1;
  const Encoded row(values);
  for (std::size_t i = 0; i < 70; ++i) CHECK_EQ(row.integer(i), i == 3 ? -508 : i == 69 ? 508 : 0);
}

TEST("ten bits: dot products of all sets agree with double, at the extremes too") {
  std::mt19937_64 random(test::seed() + 1);
  std::uniform_real_distribution<float> any(-1, 1);
  for (std::size_t length : {0, 64, 128, 192, 384, 1024}) {
    for (bool extreme : {false, true}) {
      std::vector<float> query(length);
      std::vector<std::int8_t> codes(length);
      std::vector<std::uint8_t> low(length / 4);
      for (float& value : query) value = any(random);
      for (auto& code : codes) {
        code = static_cast<std::int8_t>(extreme ? (random() % 2 == 0 ? 127 : -128)
                                                : static_cast<int>(random() % 256) - 128);
      }
      for (auto& bits : low) bits = static_cast<std::uint8_t>(extreme ? (random() % 2 == 0 ? 0 : 255) : random());
      double exact = 0;
      for (std::size_t i = 0; i < length; ++i) {
        exact += static_cast<double>(query[i]) * ten_bit_value(codes.data(), low.data(), i);
      }
      for (const DistanceKernels* set : available_kernels()) {
        CHECK_NEAR(set->dot_ten_bit(query.data(), codes.data(), low.data(), length), exact,
                   1e-4 * static_cast<double>(length + 8));
      }
    }
  }
}

TEST("ten bits: no distance differs from the codes' by more than their bound") {
  const auto data = clustered_rows(520, 100, 7, test::seed() + 2);
  const VectorMatrix rows = VectorMatrix::encode(std::span(data).first(500 * 100), 100, VectorType::kI10);
  const Codes codes = encode_codes(rows, {});
  CHECK(codes.matrix.row(0) == rows.row(0));  // no copy
  for (std::size_t q = 500; q < 520; ++q) {
    const auto query = std::span(data).subspan(q * 100, 100);
    const Scorer fine(rows, query);
    const Scorer coarse(codes.matrix, query);
    const float bound = codes.distance_error(coarse);
    CHECK(bound < 0.1f);
    for (std::uint32_t i = 0; i < 500; ++i) CHECK(std::abs(fine.distance(i) - coarse.distance(i)) <= bound);
  }
}

TEST("ten bits: exact searches lose a quarter of what codes alone lose") {
  constexpr std::size_t kDimension = 384;
  const auto data = clustered_rows(3100, kDimension, 60, test::seed() + 3);
  const auto rows = std::span(data).first(3000 * kDimension);
  const auto truth = FlatIndex::build(rows, kDimension);
  const auto fine = FlatIndex::build(rows, kDimension, VectorType::kI10);
  const auto coarse = FlatIndex::build(rows, kDimension, VectorType::kI8);
  double fine_lost = 0;
  double coarse_lost = 0;
  for (std::size_t q = 3000; q < 3100; ++q) {
    const auto query = std::span(data).subspan(q * kDimension, kDimension);
    const auto wanted = truth->search(query, {}).hits;
    fine_lost += (1 - test::recall(fine->search(query, {}).hits, wanted)) / 100;
    coarse_lost += (1 - test::recall(coarse->search(query, {}).hits, wanted)) / 100;
  }
  std::printf("    recall@10 lost: %.4f, by codes alone %.4f\n", fine_lost, coarse_lost);
  CHECK(fine_lost <= 0.004);
  CHECK(fine_lost <= coarse_lost / 2);
  CHECK(fine->memory_bytes() * 3 < truth->memory_bytes());
}

TEST("ten bits: an index of few dimensions or many walks its codes, and its exact search equals the flat index") {
  for (std::size_t dimension : {std::size_t{24}, std::size_t{96}}) {
    const auto data = clustered_rows(3030, dimension, 30, test::seed() + 4);
    const auto rows = std::span(data).first(3000 * dimension);
    const auto index = HnswIndex::build(rows, dimension, {{}, VectorType::kI10});
    const auto flat = FlatIndex::build(rows, dimension, VectorType::kI10);
    CHECK(!index->parts().codes.empty());
    double found = 0;
    for (std::size_t q = 3000; q < 3030; ++q) {
      const auto query = std::span(data).subspan(q * dimension, dimension);
      const auto wanted = flat->search(query, {}).hits;
      CHECK(index->search(query, {.path = SearchPath::kExact}).hits == wanted);
      const auto walked = index->search(query, {.path = SearchPath::kGraph}).hits;
      found += test::recall(walked, wanted) / 30;
      for (const Scored& hit : walked) CHECK_EQ(hit.score, Scorer(index->parts().rows, query).distance(hit.ordinal));
    }
    CHECK(found >= 0.98);
  }
}

}  // namespace
}  // namespace lorekeep::vector
