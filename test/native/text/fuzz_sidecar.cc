// Fuzz target: the text index's sidecar file.
#include <cstdio>
#include <cstdlib>

#include "sample_texts.h"
#include "scratch_folder.h"
#include "text/sidecar_file.h"
#include "text/tokenizer_fit.h"

namespace {

using namespace lorekeep;

// Whatever the loader accepted must be safe to use.
void use_index(const text::TextIndex& index) {
  text::tokenizer_fit(index);
  Bitmap filter(index.documents());
  for (std::size_t i = 0; i < index.documents(); i += 2) filter.set(i);
  for (const char* query : {"word0 term5 i6", "strasse1", "nowhere", "word0 word8 word16 word24 term13"}) {
    for (const Bitmap* some : {static_cast<const Bitmap*>(nullptr), static_cast<const Bitmap*>(&filter)}) {
      for (const Scored& hit : index.search(query, {.k = 20, .filter = some}).hits) {
        if (hit.ordinal >= index.documents() || !(hit.score > 0.0f)) std::abort();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::ScratchFolder folder;
  const auto path = folder / "input";
  test::write_file(path, {data, size});
  try {
    use_index(*text::load_sidecar(path).index);
    use_index(*text::load_sidecar(path, {.complete = true}).index);
  } catch (const Error& error) {
    if (error.code() != Code::kCorrupt && error.code() != Code::kUnsupported) {
      std::fprintf(stderr, "unexpected error: %s\n", error.what());
      std::abort();
    }
  }
  return 0;
}
