// The typed metadata fields of a storage's records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "filter/iso_date.h"
#include "filter/value.h"

namespace lorekeep::filter {

enum class FieldType { kInt, kFloat, kString, kBool, kStringSet };

/// Returns the spelling in a schema: "int", "float", "string", "bool", "set<string>".
std::string_view type_name(FieldType type) noexcept;

using StringSet = std::vector<std::string>;  // sorted by bytes, no duplicates
/// A value of each FieldType, in that order: int64, finite double, UTF-8 text, bool, set of texts.
using FieldValue = std::variant<std::int64_t, double, std::string, bool, StringSet>;

/// Converts a value to `type`, or returns nullopt. An int field takes integers (also 2.0) that fit int64, a float field
/// any finite number (rounded to the nearest double), a set<string> an array of strings. Null has no type.
std::optional<FieldValue> coerce(const Value& value, FieldType type);

struct Field {
  std::string name;
  FieldType type = FieldType::kString;
  std::optional<FieldValue> default_value;  // value of records without the field; nullopt: the field is optional
  bool filterable = true;                   // false: display only, filters cannot use it
  IntFormat format = IntFormat::kNone;      // of int fields only

  bool optional() const noexcept { return !default_value.has_value(); }
  friend bool operator==(const Field&, const Field&) = default;
};

/// Converts a value for this field: as above, and from a text of its format. With a format, the value is within the
/// years of in_iso_range().
std::optional<FieldValue> coerce(const Value& value, const Field& field);
/// Describes the values of the field for an error message: its type, or the values of its format.
std::string_view expected_values(const Field& field) noexcept;

class Schema {
 public:
  Schema() = default;
  /// Throws Error(kInvalidArgument) for an empty name, a name used twice or a default of another type.
  explicit Schema(std::vector<Field> fields);
  /// Parses a `fields` array: objects with name, type, exactly one of default and "optional": true, filterable (default
  /// true), and format (int fields; optional). Ignores other keys; the reader of the file warns about them. Throws
  /// Error(kInvalidArgument) with the JSON path below `fields`, the expected and the found value.
  static Schema parse(const Value& fields);

  std::size_t size() const noexcept { return fields_.size(); }
  const Field& operator[](std::size_t index) const noexcept { return fields_[index]; }
  /// Returns the position of the field with this name.
  std::optional<std::size_t> find(std::string_view name) const noexcept;
  std::vector<std::string> names() const;

  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  std::vector<Field> fields_;
};

}  // namespace lorekeep::filter
