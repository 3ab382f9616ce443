#include "fuzz_driver.h"
#include "hnswlib_sample.h"
#include "sample_vectors.h"

namespace lorekeep::vector {
namespace {

test::Bytes sample(std::size_t rows, const test::HnswlibSample& shape) {
  const test::TemporaryFolder folder;
  const auto data = test::clustered_rows(rows, shape.dimension, 3, test::seed());
  test::write_hnswlib_file(folder / "index", data, shape);
  return test::read_file(folder / "index");
}

TEST("fuzz: no bytes make the hnswlib import crash, misread or allocate beyond the file's size") {
  test::FuzzPlan plan;
  plan.corpus = {sample(0, {}),
                 sample(1, {}),
                 sample(80, {}),
                 sample(120, {.m = 2}),
                 sample(40, {.normalised = false}),
                 sample(40, {.dimension = 7}),
                 sample(3, {.labels = {2, 0, 1}}),
                 sample(3, {.labels = {2, 0, 9}}),
                 sample(30, {.deleted = {3}})};
  plan.rounds = 3000;
  test::fuzz(plan);
}

}  // namespace
}  // namespace lorekeep::vector
