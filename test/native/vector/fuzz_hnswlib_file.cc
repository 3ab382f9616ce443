// Fuzz target: the import of hnswlib's files, of the dimension that the corpus has.
#include "fuzz_target.h"
#include "vector/hnswlib_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lorekeep;
  const auto path = test::write_fuzz_input({data, size});
  try {
    test::use_index(*vector::import_hnswlib_file(path, 6));
  } catch (const Error& error) {
    test::expect_refusal(error);
  }
  return 0;
}
