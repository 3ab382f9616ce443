#include "store/json_record.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "core/values/error.h"
#include "store/file_window.h"
#include "store/json_culprit.h"

namespace lorekeep::store {
namespace {

template <class Integer>
bool fits(std::string_view token) {
  Integer value = 0;
  return std::from_chars(token.data(), token.data() + token.size(), value).ec == std::errc();
}

/// Returns the end of the string that begins at `at`; the end of the text if it is not closed.
std::size_t after_string(std::string_view json, std::size_t at) {
  while (++at < json.size() && json[at] != '"') at += json[at] == '\\' ? 1 : 0;
  return std::min(at + 1, json.size());
}

/// Returns `json` with `e0` appended to every integer outside of int64 and uint64, which the parser refuses, so that it
/// is parsed as the nearest double. Everything else, valid or not, is unchanged.
std::string wide_integers_as_reals(std::string_view json) {
  std::string result;
  result.reserve(json.size() + 16);
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t begin = at;
    bool integer = false;
    if (json[at] == '"') {
      at = after_string(json, at);
    } else {
      // Copies numbers as a whole, everything else byte by byte.
      at = std::min(json.find_first_not_of("+-.0123456789Ee", at), json.size());
      const std::string_view token = json.substr(begin, at - begin);
      integer = !token.empty() && token.find_first_not_of("0123456789", token[0] == '-') == token.npos;
      if (token.empty()) ++at;
    }
    const std::string_view part = json.substr(begin, at - begin);
    result += part;
    if (integer && !fits<std::int64_t>(part) && !fits<std::uint64_t>(part)) result += "e0";
  }
  return result;
}

namespace dom = simdjson::dom;

static_assert(FileWindow::kPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::size_t kFirstCapacity = std::size_t{64} << 10;

filter::Value to_value(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY: {
      filter::Array array;
      for (const dom::element item : dom::array(element)) array.push_back(to_value(item));
      return array;
    }
    case dom::element_type::OBJECT: {
      filter::Object object;
      for (const auto field : dom::object(element)) object.push_back({std::string(field.key), to_value(field.value)});
      return object;
    }
    case dom::element_type::INT64: return std::int64_t(element);
    case dom::element_type::UINT64: return static_cast<double>(std::uint64_t(element));
    case dom::element_type::DOUBLE: return double(element);
    case dom::element_type::STRING: return std::string_view(element);
    case dom::element_type::BOOL: return bool(element);
    case dom::element_type::NULL_VALUE: return nullptr;
  }
  return nullptr;
}

/// Explains a JSON error, with its place in the record.
RecordIssue parse_issue(simdjson::error_code error, std::string_view json) {
  if (error == simdjson::UTF8_ERROR) return {"", "UTF-8", "bytes that are not UTF-8"};
  if (error == simdjson::DEPTH_ERROR) {
    return {"", "at most " + std::to_string(kMaxRecordDepth) + " levels of nesting", "more"};
  }
  if (auto culprit = find_culprit(json)) {
    return {std::move(culprit->field), std::move(culprit->expected), std::move(culprit->found)};
  }
  return {"", "JSON", "a comma, colon, quote or bracket that is missing or one too many"};
}

/// Returns whether the end of the record is certain despite the error.
bool ends_are_certain(simdjson::error_code error) {
  return error == simdjson::UTF8_ERROR || error == simdjson::DEPTH_ERROR || error == simdjson::BIGINT_ERROR ||
         error == simdjson::NUMBER_ERROR || error == simdjson::STRING_ERROR;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

/// Reads the fields of one record.
class RecordFields {
 public:
  /// `rounded`: integers beyond 64 bits were converted to doubles.
  RecordFields(const filter::Schema* schema, bool rounded, JsonRecord& record)
      : schema_(schema), rounded_(rounded), record_(record) {}

  void read(const dom::object& object) {
    for (const auto field : object) {
      if (field.key == "id") once(has_id_, "id") && read_text(field.value, "id", record_.id);
      if (field.key == "text") once(has_text_, "text") && read_text(field.value, "text", record_.text);
      if (field.key == "metadata" && once(has_metadata_, "metadata")) read_metadata(field.value);
    }
    if (!has_id_) refuse("id", kText, "nothing");
    if (!has_text_) refuse("text", kText, "nothing");
  }

 private:
  static constexpr const char* kText = "a string that is not blank";

  bool once(bool& seen, const char* key) {
    if (seen) refuse(key, "the key once", "twice");
    return !std::exchange(seen, true);
  }

  bool read_text(const dom::element& value, const char* key, std::string_view& out) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS || is_blank(text)) {
      refuse(key, kText, filter::describe(to_value(value)));
      return false;
    }
    out = text;
    return true;
  }

  void read_metadata(const dom::element& value) {
    dom::object object;
    if (value.get(object) != simdjson::SUCCESS) {
      refuse("metadata", "an object", filter::describe(to_value(value)));
      return;
    }
    if (schema_ == nullptr) return;
    for (const auto field : object) {
      const auto position = schema_->find(field.key);
      if (position) read_field(*position, field.value);
    }
  }

  void read_field(std::size_t position, const dom::element& value) {
    const filter::Field& field = (*schema_)[position];
    const auto is_this = [&](const auto& entry) { return entry.first == position; };
    if (std::any_of(record_.values.begin(), record_.values.end(), is_this)) {
      refuse("metadata." + field.name, "the key once", "twice");
      return;
    }
    const filter::Value parsed = to_value(value);
    auto coerced = filter::coerce(parsed, field);
    // Among the doubles that such integers become, only -2^63 would be accepted as an int.
    const auto* real = rounded_ && field.type == filter::FieldType::kInt ? parsed.as<double>() : nullptr;
    if (coerced && (real == nullptr || *real > -0x1p63)) {
      record_.values.emplace_back(position, std::move(*coerced));
    } else {
      refuse_value("metadata." + field.name, field, value, parsed);
    }
  }

  void refuse_value(std::string name, const filter::Field& field, const dom::element& value,
                    const filter::Value& parsed) {
    const filter::FieldType type = field.type;
    const auto* elements = type == filter::FieldType::kStringSet ? parsed.as<filter::Array>() : nullptr;
    for (std::size_t i = 0; elements != nullptr && i < elements->size(); ++i) {
      const filter::Value& element = (*elements)[i];
      if (filter::coerce(element, filter::FieldType::kString)) continue;
      return refuse(name + "[" + std::to_string(i) + "]", "string", filter::describe(element));
    }
    std::string expected(filter::expected_values(field));
    std::string found = filter::describe(parsed);
    const auto* real = parsed.as<double>();
    if (expected == "int" && real != nullptr && std::abs(*real) >= 0x1p63) {
      expected += *real > 0 ? " of at most 9223372036854775807" : " of at least -9223372036854775808";
      std::uint64_t beyond = 0;  // exact, where a double would be rounded
      found = value.get(beyond) == simdjson::SUCCESS ? std::to_string(beyond) : "about " + found;
    }
    refuse(std::move(name), std::move(expected), std::move(found));
  }

  void refuse(std::string field, std::string expected, std::string found) {
    record_.issues.push_back({std::move(field), std::move(expected), std::move(found)});
  }

  const filter::Schema* schema_;
  bool rounded_;
  JsonRecord& record_;
  bool has_id_ = false;
  bool has_text_ = false;
  bool has_metadata_ = false;
};

}  // namespace

struct JsonRecordParser::Parser {
  dom::parser parser;
  bool rounded = false;  // whether the last record had integers beyond 64 bits

  simdjson::error_code parse(std::string_view json, dom::element& element) {
    const auto error = parser.parse(json.data(), json.size(), false).get(element);
    rounded = false;
    if (error != simdjson::BIGINT_ERROR && error != simdjson::NUMBER_ERROR) return error;
    const simdjson::padded_string reals(wide_integers_as_reals(json));
    rounded = reals.size() > json.size();
    return rounded ? parser.parse(reals.data(), reals.size(), false).get(element) : error;
  }
};

JsonRecordParser::JsonRecordParser(const filter::Schema* schema)
    : schema_(schema), parser_(std::make_unique<Parser>()) {
  if (parser_->parser.allocate(kFirstCapacity, kMaxRecordDepth) != simdjson::SUCCESS) {
    fail(Code::kOutOfMemory, "records: no memory for the parser");
  }
}

JsonRecordParser::~JsonRecordParser() = default;

const JsonRecord& JsonRecordParser::parse(std::string_view json) {
  record_ = {};
  dom::element element;
  const auto error = parser_->parse(json, element);
  if (error == simdjson::MEMALLOC) fail(Code::kOutOfMemory, "records: no memory for a record");
  if (error != simdjson::SUCCESS) {
    record_.issues.push_back(parse_issue(error, json));
    record_.readable = ends_are_certain(error);
    return record_;
  }
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) {
    record_.issues.push_back({"", "an object", filter::describe(to_value(element))});
    return record_;
  }
  RecordFields(schema_, parser_->rounded, record_).read(object);
  return record_;
}

}  // namespace lorekeep::store
