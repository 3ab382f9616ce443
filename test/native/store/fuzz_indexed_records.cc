// Fuzz target: the records that an index file carries.
#include <cstdlib>

#include "indexed_records_sample.h"
#include "vector/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lorekeep;
  static const store::IndexedSample sample;
  static const auto schema = store::sample_schema();
  const auto path = test::write_fuzz_input({data, size});
  try {
    const auto opened = store::open_indexed_records(path, sample.records_path, {.schema = schema});
    if (!opened.stale.empty()) return 0;
    const store::Records& records = opened.records;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      bytes += records.ids[i].size() + records.texts[i].size();
      for (std::size_t field = 0; field < schema->size(); ++field) records.metadata->value(i, field);
    }
    if (bytes > size || records.texts.size() != records.size()) std::abort();
    const auto& tags = std::get<filter::SetColumn>((*records.metadata)[4].data);
    for (std::uint32_t code = 0; code < tags.dictionary.size(); ++code) {
      for (const std::uint32_t row : tags.rows_with(code)) {
        if (row >= records.size()) std::abort();
      }
    }
  } catch (const Error& error) {
    test::expect_refusal(error);
  }
  return 0;
}
