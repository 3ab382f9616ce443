// Parses one record of a records file. Only json_record.cc uses the JSON parser.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/schema.h"

namespace lorekeep::store {

/// Deepest nesting of a record, itself included.
inline constexpr std::size_t kMaxRecordDepth = 64;

/// A defect in a field of a record.
struct RecordIssue {
  std::string field;  // "text", "metadata.year"; empty: the record itself
  std::string expected;
  std::string found;
};

struct JsonRecord {
  std::string_view id;    // UTF-8, valid until the next parse(); empty if invalid
  std::string_view text;  // likewise
  std::vector<std::pair<std::size_t, filter::FieldValue>> values;  // by position in the schema
  std::vector<RecordIssue> issues;                                 // empty: the record is valid
  bool readable = true;  // false: not JSON, so the following records may be misread
};

class JsonRecordParser {
 public:
  /// Without a schema (null), metadata must be an object but its content is ignored.
  explicit JsonRecordParser(const filter::Schema* schema);
  ~JsonRecordParser();

  /// `json` is one element, followed by FileWindow::kPadding readable bytes. The result is valid until the next call.
  const JsonRecord& parse(std::string_view json);

 private:
  struct Parser;

  const filter::Schema* schema_;
  std::unique_ptr<Parser> parser_;
  JsonRecord record_;
};

}  // namespace lorekeep::store
