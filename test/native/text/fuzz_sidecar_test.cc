#include "fuzz_driver.h"
#include "sample_texts.h"
#include "scratch_folder.h"
#include "text/sidecar_file.h"

namespace lorekeep::text {
namespace {

test::Bytes saved(std::size_t documents, std::size_t longest, std::size_t vocabulary) {
  test::Random random(test::seed());
  const test::ScratchFolder folder;
  const auto texts = test::random_texts(random, documents, longest, vocabulary);
  save_sidecar(*TextIndex::build(test::views(texts), {}), folder / "kb.bm25", 7);
  return test::read_file(folder / "kb.bm25");
}

TEST("fuzz: no bytes make the sidecar loader crash, misread or allocate beyond the file's size") {
  test::FuzzPlan plan;
  plan.repair = test::repair_section_file;
  plan.corpus = {saved(0, 0, 10), saved(1, 4, 10), saved(65, 10, 40), saved(700, 6, 300)};
  test::fuzz(plan);
}

}  // namespace
}  // namespace lorekeep::text
