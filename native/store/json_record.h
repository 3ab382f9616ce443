// One record of a records file, out of its JSON. The only file that knows the JSON parser is json_record.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/schema.h"

namespace lorekeep::store {

/// Levels of nesting that a record may have, itself included.
inline constexpr std::size_t kMaxRecordDepth = 64;

/// What is wrong with a record, in terms of its fields.
struct RecordIssue {
  std::string field;  // "text", "metadata.year"; empty: the record itself
  std::string expected;
  std::string found;
};

struct JsonRecord {
  std::string_view id;    // UTF-8, valid until the next parse(); empty when it is among the issues
  std::string_view text;  // likewise
  std::vector<std::pair<std::size_t, filter::FieldValue>> values;  // by position in the schema
  std::vector<RecordIssue> issues;                                 // empty: all of the above is right
  bool readable = true;  // false: not JSON, so what follows it in the file may be misread
};

class JsonRecordParser {
 public:
  /// Without a schema (null) metadata are checked to be an object and not looked into.
  explicit JsonRecordParser(const filter::Schema* schema);
  ~JsonRecordParser();

  /// `json` is one element, with FileWindow::kPadding bytes behind it that may be read too. The result lives until the
  /// next call.
  const JsonRecord& parse(std::string_view json);

 private:
  struct Parser;

  const filter::Schema* schema_;
  std::unique_ptr<Parser> parser_;
  JsonRecord record_;
};

}  // namespace lorekeep::store
