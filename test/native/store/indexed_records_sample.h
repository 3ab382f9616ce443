// A records file with fields of all types, and an index file that carries its records.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "store/indexed_records.h"
#include "store/json_record.h"
#include "vector/sample_vectors.h"

namespace lorekeep::store {

inline std::shared_ptr<const filter::Schema> sample_schema() {
  using filter::FieldType;
  std::vector<filter::Field> fields{{"year", FieldType::kInt, {}, true},
                                    {"score", FieldType::kFloat, {}, true},
                                    {"kind", FieldType::kString, {}, true},
                                    {"free", FieldType::kBool, {}, true},
                                    {"tags", FieldType::kStringSet, {}, true}};
  fields[1].default_value = 0.5;
  fields[3].default_value = false;
  return std::make_shared<const filter::Schema>(std::move(fields));
}

inline std::string sample_json(std::size_t records) {
  std::string json = "[";
  for (std::size_t i = 0; i < records; ++i) {
    const std::string n = std::to_string(i);
    json +=
        std::string(i > 0 ? ",\n" : "") + R"({"id":"r)" + n + R"(","text":"text )" + n + R"( caf\u00e9","metadata":{)";
    if (i % 3 != 0) json += R"("year":)" + n + R"(,"kind":"k)" + std::to_string(i % 4) + R"(",)";
    if (i % 2 == 0) json += R"("score":)" + n + R"(.25,"tags":["b)" + std::to_string(i % 5) + R"(","a"],)";
    json += R"("free":)" + std::string(i % 2 == 0 ? "true" : "false") + "}}";
  }
  return json + "]";
}

class IndexedSample {
 public:
  explicit IndexedSample(std::size_t records = 70) {
    write_records(sample_json(records));
    rest();
    read = read_records(records_path, {.schema = sample_schema()});
    index = vector::HnswIndex::build(test::clustered_rows(records, 4, 3, test::seed()), 4,
                                     {{.m = 3, .ef_construction = 8}, vector::VectorType::kF32});
    save();
  }
  void write_records(const std::string& json) const {
    test::write_file(records_path, std::span(reinterpret_cast<const std::uint8_t*>(json.data()), json.size()));
  }
  /// As if the records had been written long ago.
  void rest(int hours = 1) const {
    std::filesystem::last_write_time(records_path,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  void save() const { save_indexed_records(*index, read, path, 7); }
  IndexedRecords open(std::shared_ptr<const filter::Schema> schema = sample_schema()) const {
    return open_indexed_records(path, records_path, {.schema = std::move(schema)});
  }

  test::TemporaryFolder folder;
  std::filesystem::path path = folder / "kb.index";
  std::filesystem::path records_path = folder / "records.json";
  Records read;
  std::shared_ptr<const vector::HnswIndex> index;
};

}  // namespace lorekeep::store
