// Fuzz target: our index file.
#include "fuzz_target.h"
#include "vector/index_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lorekeep;
  const auto path = test::write_fuzz_input({data, size});
  for (bool verify : {false, true}) {
    try {
      test::use_index(*vector::load_index(path, {.verify_vectors = verify, .dimension = {}}).index);
    } catch (const Error& error) {
      test::expect_refusal(error);
    }
  }
  return 0;
}
