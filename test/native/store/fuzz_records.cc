// Fuzz target: the records file.
#include <cstdio>
#include <cstdlib>

#include "records_sample.h"
#include "store/json_record.h"

namespace {

using namespace lorekeep;

std::shared_ptr<const filter::Schema> schema() {
  return std::make_shared<const filter::Schema>(std::vector<filter::Field>{
      {"year", filter::FieldType::kInt, {}, true}, {"tags", filter::FieldType::kStringSet, {}, true}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const store::RecordsFile file;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  try {
    const store::Records records = file.read(json, {.schema = schema()});
    if (records.size() == 0 || records.texts.size() != records.size()) std::abort();
    if (records.metadata->size() != records.size() || records.texts.text_bytes() > size) std::abort();
  } catch (const Error& error) {
    if (error.code() != Code::kCorrupt && error.code() != Code::kInvalidArgument) {
      std::fprintf(stderr, "unexpected error: %s\n", error.what());
      std::abort();
    }
  }
  return 0;
}
