#include "fuzz_driver.h"
#include "sample_vectors.h"
#include "vector/index_file.h"

namespace lorekeep::vector {
namespace {

test::Bytes saved(std::size_t rows, std::size_t dimension, const HnswParams& params) {
  const test::TemporaryFolder folder;
  const auto data = test::clustered_rows(rows, dimension, 3, test::seed());
  save_index(*HnswIndex::build(data, dimension, params), folder / "index", 7);
  return test::read_file(folder / "index");
}

TEST("fuzz: no bytes make the index loader crash, misread or allocate beyond the file's size") {
  test::FuzzPlan plan;
  plan.repair = test::repair_section_file;
  plan.corpus = {saved(0, 3, {}),
                 saved(1, 3, {}),
                 saved(90, 5, {{.m = 2, .ef_construction = 8}, VectorType::kF32}),
                 saved(70, 64, {{.m = 3, .ef_construction = 8}, VectorType::kF32}),
                 saved(70, 70, {{.m = 4, .ef_construction = 8}, VectorType::kF16}),
                 saved(60, 9, {{.m = 4, .ef_construction = 8}, VectorType::kI8}),
                 saved(60, 70, {{.m = 4, .ef_construction = 8}, VectorType::kI10})};
  plan.rounds = 6000;
  test::fuzz(plan);
}

}  // namespace
}  // namespace lorekeep::vector
