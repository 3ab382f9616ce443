#include "filter/schema.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/values/error.h"

namespace lorekeep::filter {
namespace {

constexpr std::array<FieldType, 5> kTypes = {FieldType::kInt, FieldType::kFloat, FieldType::kString, FieldType::kBool,
                                             FieldType::kStringSet};

[[noreturn]] void refuse_field(const std::string& path, const std::string& expected, const std::string& found) {
  fail(Code::kInvalidArgument, path + ": expected " + expected + ", found " + found,
       {{"path", path}, {"expected", expected}, {"found", found}});
}

std::optional<FieldValue> to_int(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  const auto* real = value.as<double>();
  if (real == nullptr || std::trunc(*real) != *real || !(*real >= -0x1p63 && *real < 0x1p63)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<FieldValue> to_float(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
  const auto* real = value.as<double>();
  if (real == nullptr || !std::isfinite(*real)) return std::nullopt;
  return *real;
}

std::optional<FieldValue> to_set(const Value& value) {
  const auto* array = value.as<Array>();
  if (array == nullptr) return std::nullopt;
  StringSet set;
  for (const Value& element : *array) {
    const auto* text = element.as<std::string>();
    if (text == nullptr) return std::nullopt;
    set.push_back(*text);
  }
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

/// Reads the object of one field.
class FieldParser {
 public:
  FieldParser(const Value& value, std::string path) : path_(std::move(path)) {
    const auto* object = value.as<Object>();
    if (object == nullptr) refuse_field(path_, "an object", describe(value));
    for (const Member& member : *object) take(member);
  }

  Field parse() const {
    Field field;
    field.name = text(name_, "name");
    field.type = type();
    field.format = format(field.type);
    field.filterable = flag(filterable_, "filterable", true);
    const bool optional = flag(optional_, "optional", false);
    if (optional == (default_ != nullptr)) {
      refuse_field(path_, "exactly one of \"default\" and \"optional\": true", optional ? "both" : "neither");
    }
    if (default_ != nullptr) {
      field.default_value = coerce(*default_, field);
      if (!field.default_value)
        refuse_field(path_ + ".default", std::string(expected_values(field)), describe(*default_));
    }
    return field;
  }

 private:
  void take(const Member& member) {
    if (member.key == "name") name_ = &member.value;
    if (member.key == "type") type_ = &member.value;
    if (member.key == "format") format_ = &member.value;
    if (member.key == "default") default_ = &member.value;
    if (member.key == "optional") optional_ = &member.value;
    if (member.key == "filterable") filterable_ = &member.value;
  }

  std::string text(const Value* value, const char* key) const {
    const std::string path = path_ + "." + key;
    if (value == nullptr) refuse_field(path, "a string", "nothing");
    const auto* string = value->as<std::string>();
    if (string == nullptr || string->empty()) refuse_field(path, "a string that is not empty", describe(*value));
    return *string;
  }

  bool flag(const Value* value, const char* key, bool otherwise) const {
    if (value == nullptr) return otherwise;
    const auto* flag = value->as<bool>();
    if (flag == nullptr) refuse_field(path_ + "." + key, "true or false", describe(*value));
    return *flag;
  }

  FieldType type() const {
    const std::string name = text(type_, "type");
    for (const FieldType type : kTypes) {
      if (type_name(type) == name) return type;
    }
    refuse_field(path_ + ".type", "int, float, string, bool or set<string>", quoted(name));
  }

  IntFormat format(FieldType type) const {
    if (format_ == nullptr) return IntFormat::kNone;
    const std::string path = path_ + ".format";
    const auto* name = format_->as<std::string>();
    for (const IntFormat format : {IntFormat::kDate, IntFormat::kDateTime}) {
      if (name == nullptr || *name != format_name(format)) continue;
      if (type != FieldType::kInt) refuse_field(path, "no format: only an int field has one", quoted(*name));
      return format;
    }
    refuse_field(path, "date or date-time", describe(*format_));
  }

  std::string path_;
  const Value* name_ = nullptr;
  const Value* type_ = nullptr;
  const Value* format_ = nullptr;
  const Value* default_ = nullptr;
  const Value* optional_ = nullptr;
  const Value* filterable_ = nullptr;
};

}  // namespace

std::string_view type_name(FieldType type) noexcept {
  switch (type) {
    case FieldType::kInt: return "int";
    case FieldType::kFloat: return "float";
    case FieldType::kString: return "string";
    case FieldType::kBool: return "bool";
    case FieldType::kStringSet: return "set<string>";
  }
  return "";
}

std::optional<FieldValue> coerce(const Value& value, FieldType type) {
  switch (type) {
    case FieldType::kInt: return to_int(value);
    case FieldType::kFloat: return to_float(value);
    case FieldType::kString:
      if (const auto* text = value.as<std::string>()) return *text;
      return std::nullopt;
    case FieldType::kBool:
      if (const auto* flag = value.as<bool>()) return *flag;
      return std::nullopt;
    case FieldType::kStringSet: return to_set(value);
  }
  return std::nullopt;
}

std::optional<FieldValue> coerce(const Value& value, const Field& field) {
  if (field.format == IntFormat::kNone) return coerce(value, field.type);
  if (const auto* text = value.as<std::string>()) {
    const auto parsed = parse_iso(*text, field.format);
    return parsed ? std::optional<FieldValue>(*parsed) : std::nullopt;
  }
  const auto coerced = coerce(value, field.type);
  if (coerced && !in_iso_range(std::get<std::int64_t>(*coerced), field.format)) return std::nullopt;
  return coerced;
}

std::string_view expected_values(const Field& field) noexcept {
  return field.format == IntFormat::kNone ? type_name(field.type) : format_values(field.format);
}

Schema::Schema(std::vector<Field> fields) : fields_(std::move(fields)) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    const std::string path = "fields[" + std::to_string(i) + "]";
    if (field.name.empty()) refuse_field(path + ".name", "a string that is not empty", "\"\"");
    if (*find(field.name) != i) {
      refuse_field(path + ".name", "a unique name",
                   quoted(field.name) + ", the name of fields[" + std::to_string(*find(field.name)) + "]");
    }
    if (field.default_value && field.default_value->index() != static_cast<std::size_t>(field.type)) {
      refuse_field(path + ".default", std::string(type_name(field.type)), "a value of another type");
    }
  }
}

Schema Schema::parse(const Value& fields) {
  const auto* array = fields.as<Array>();
  if (array == nullptr) refuse_field("fields", "an array", describe(fields));
  std::vector<Field> parsed;
  for (std::size_t i = 0; i < array->size(); ++i) {
    parsed.push_back(FieldParser((*array)[i], "fields[" + std::to_string(i) + "]").parse());
  }
  return Schema(std::move(parsed));
}

std::optional<std::size_t> Schema::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) return i;
  }
  return std::nullopt;
}

std::vector<std::string> Schema::names() const {
  std::vector<std::string> names;
  for (const Field& field : fields_) names.push_back(field.name);
  return names;
}

}  // namespace lorekeep::filter
