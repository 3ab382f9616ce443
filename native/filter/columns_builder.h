#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/columns.h"

namespace lorekeep::filter {

/// Builds Columns from records, field by field. Every error is Error(kInvalidArgument) naming the record (position and
/// name) and the field; the builder is then unusable.
class ColumnsBuilder {
 public:
  explicit ColumnsBuilder(std::shared_ptr<const Schema> schema);
  ~ColumnsBuilder();

  /// Starts the next record. `name` (its id) is used only in errors.
  void begin_record(std::string_view name);
  /// Sets a field of the current record; `field` is a position in the schema. An integer for a float field is rounded
  /// to the nearest double. Throws for a value of another type, a non-finite number or a field set twice.
  void set_int(std::size_t field, std::int64_t value);
  void set_float(std::size_t field, double value);
  void set_string(std::size_t field, std::string_view value);
  void set_bool(std::size_t field, bool value);
  /// Any order, duplicates allowed.
  void set_strings(std::size_t field, std::span<const std::string_view> values);
  /// Converts the value like coerce() of schema.h.
  void set(std::size_t field, const Value& value);
  void set(std::size_t field, const FieldValue& value);

  std::size_t size() const noexcept { return records_; }
  /// Completes the last record (missing fields take their default or stay absent) and returns all columns.
  Columns build() &&;

 private:
  struct Draft;  // of one column
  void end_record();
  template <class Describe>
  Draft& draft(std::size_t field, FieldType given, Describe found);
  [[noreturn]] void refuse(std::size_t field, const std::string& expected, const std::string& found) const;

  std::shared_ptr<const Schema> schema_;
  std::vector<Draft> drafts_;
  std::size_t records_ = 0;
  std::string record_name_;
};

}  // namespace lorekeep::filter
