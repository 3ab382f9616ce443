#include "fuzz_driver.h"
#include "indexed_records_sample.h"

namespace lorekeep::store {
namespace {

TEST("fuzz: no bytes make the reader of an index file's records crash, misread or allocate beyond the file's size") {
  const IndexedSample few(2);
  const IndexedSample some;
  test::FuzzPlan plan;
  plan.repair = test::repair_section_file;
  plan.corpus = {test::read_file(few.path), test::read_file(some.path)};
  plan.allocation_base = 4 << 20;  // the buffers that read the records file
  plan.rounds = 6000;
  test::fuzz(plan);
}

}  // namespace
}  // namespace lorekeep::store
