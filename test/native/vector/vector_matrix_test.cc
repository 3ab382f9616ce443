#include "vector/vector_matrix.h"

#include <limits>

#include "sample_vectors.h"
#include "vector/codes.h"
#include "vector/scorer.h"

namespace lorekeep::vector {
namespace {

using test::clustered_rows;

TEST("rows are normalised, aligned and padded with zeros") {
  const auto rows = clustered_rows(50, 37, 3, test::seed());
  const VectorMatrix matrix = VectorMatrix::encode(rows, 37, VectorType::kF32);
  CHECK_EQ(matrix.size(), 50u);
  CHECK_EQ(matrix.stride(), 192u);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const auto* values = reinterpret_cast<const float*>(matrix.row(i));
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(values) % 64, 0u);
    double squares = 0;
    for (std::size_t j = 0; j < 37; ++j) squares += static_cast<double>(values[j]) * values[j];
    CHECK_NEAR(squares, 1.0, 1e-6);
    for (std::size_t j = 37; j < 48; ++j) CHECK_EQ(values[j], 0.0f);
  }
}

TEST("extreme lengths neither overflow nor vanish") {
  const std::vector<float> rows{3e38f, 3e38f, 1e-40f, 0, 0, 0};
  const VectorMatrix matrix = VectorMatrix::encode(rows, 2, VectorType::kF32);
  float row[2];
  matrix.decode(0, row);
  CHECK_NEAR(row[0], std::sqrt(0.5), 1e-6);
  matrix.decode(1, row);
  CHECK_EQ(row[0], 1.0f);
  matrix.decode(2, row);
  CHECK_EQ(row[0], 0.0f);
}

TEST("a value that is not finite is refused by row and place") {
  std::vector<float> rows(12, 1.0f);
  rows[7] = std::numeric_limits<float>::quiet_NaN();
  try {
    VectorMatrix::encode(rows, 3, VectorType::kF32);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kInvalidArgument);
    CHECK_EQ(std::string(error.what()), "row 2: value 1 is NaN");
  }
  rows[7] = -std::numeric_limits<float>::infinity();
  CHECK_FAILS(Code::kInvalidArgument, VectorMatrix::encode(rows, 3, VectorType::kI8));
  CHECK_FAILS(Code::kInvalidArgument, VectorMatrix::encode(rows, 3, VectorType::kI10));
}

TEST("shapes that make no sense are refused") {
  const std::vector<float> rows(10, 1.0f);
  CHECK_FAILS(Code::kInvalidArgument, VectorMatrix::encode(rows, 3, VectorType::kF32));
  CHECK_FAILS(Code::kInvalidArgument, VectorMatrix::encode(rows, 0, VectorType::kF32));
  CHECK_FAILS(Code::kInvalidArgument, VectorMatrix::encode(rows, kMaxDimension + 1, VectorType::kF32));
}

TEST("f16 and i8 rows come back within their precision") {
  const auto rows = clustered_rows(40, 129, 3, test::seed() + 1);
  const VectorMatrix exact = VectorMatrix::encode(rows, 129, VectorType::kF32);
  const VectorMatrix half = VectorMatrix::encode(rows, 129, VectorType::kF16);
  const VectorMatrix code = VectorMatrix::encode(rows, 129, VectorType::kI8);
  std::vector<float> a(129), b(129), c(129);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    exact.decode(i, a.data());
    half.decode(i, b.data());
    code.decode(i, c.data());
    for (std::size_t j = 0; j < a.size(); ++j) {
      CHECK_NEAR(b[j], a[j], std::abs(a[j]) * 0x1p-11 + 0x1p-25);
      CHECK_NEAR(c[j], a[j], code.scale(i) * 0.5001);
    }
  }
}

TEST("one by one, four at a time and in sequence a distance is the same, for all types") {
  const auto rows = clustered_rows(103, 70, 5, test::seed() + 2);
  const auto query = clustered_rows(1, 70, 5, test::seed() + 3);
  for (VectorType type : {VectorType::kF32, VectorType::kF16, VectorType::kI8, VectorType::kI10}) {
    const VectorMatrix matrix = VectorMatrix::encode(rows, 70, type);
    const Scorer scorer(matrix, query);
    const double precision = type == VectorType::kF32   ? 1e-6
                             : type == VectorType::kI8  ? 2e-2
                             : type == VectorType::kI10 ? 3e-3
                                                        : 1e-3;
    std::vector<float> sequence(103), chosen(103);
    std::vector<std::uint32_t> ordinals(103);
    for (std::uint32_t i = 0; i < 103; ++i) ordinals[i] = 102 - i;
    scorer.distances_from(0, 103, sequence.data());
    scorer.distances(ordinals.data(), 103, chosen.data());
    for (std::uint32_t i = 0; i < 103; ++i) {
      CHECK_EQ(scorer.distance(i), sequence[i]);
      CHECK_EQ(chosen[102 - i], sequence[i]);
      CHECK_NEAR(sequence[i], test::true_distance(query, std::span(rows).subspan(i * 70, 70)), precision);
    }
  }
}

TEST("zero vectors have distance 1 to everything, themselves included") {
  std::vector<float> rows(3 * 66, 0.0f);
  rows[66] = 2.0f;
  rows[2 * 66] = -1.0f;
  const std::vector<float> zero(66, 0.0f);
  for (VectorType type : {VectorType::kF32, VectorType::kF16, VectorType::kI8, VectorType::kI10}) {
    const VectorMatrix matrix = VectorMatrix::encode(rows, 66, type);
    const Scorer from_zero(matrix, zero);
    for (std::uint32_t i = 0; i < 3; ++i) CHECK_EQ(from_zero.distance(i), 1.0f);
    const Scorer from_one(matrix, std::span<const float>(rows).subspan(66, 66));
    CHECK_EQ(from_one.distance(0), 1.0f);
    CHECK_NEAR(from_one.distance(1), 0.0, 1e-6);
    CHECK_NEAR(from_one.distance(2), 2.0, 1e-6);
  }
}

TEST("codes are never further off than their bound says") {
  const auto rows = clustered_rows(500, 96, 7, test::seed() + 4);
  const auto queries = clustered_rows(20, 96, 7, test::seed() + 5);
  const VectorMatrix exact = VectorMatrix::encode(rows, 96, VectorType::kF32);
  const Codes codes = encode_codes(exact, {});
  CHECK(codes.row_error > 0 && codes.row_error < 0.05f);
  for (std::size_t q = 0; q < 20; ++q) {
    const auto query = std::span(queries).subspan(q * 96, 96);
    const Scorer fine(exact, query);
    const Scorer coarse(codes.matrix, query);
    const float bound = codes.distance_error(coarse);
    CHECK(bound < 0.1f);
    float worst = 0;
    for (std::uint32_t i = 0; i < 500; ++i) worst = std::max(worst, std::abs(fine.distance(i) - coarse.distance(i)));
    CHECK(worst <= bound);
  }
}

}  // namespace
}  // namespace lorekeep::vector
