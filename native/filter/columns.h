// The metadata of all records, one typed column per field, from ColumnsBuilder or a file (columns_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/values/bitmap.h"
#include "core/values/text_arena.h"
#include "core/values/values.h"
#include "filter/schema.h"

namespace lorekeep::filter {

/// Distinct texts of a column in ascending byte order (which is code point order). A text's code is its position, so
/// codes compare like the texts.
class Dictionary {
 public:
  Dictionary() = default;
  /// `texts` are ascending and distinct.
  explicit Dictionary(TextArena texts) : texts_(std::move(texts)) {}

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(texts_.size()); }
  std::string_view operator[](std::uint32_t code) const noexcept { return texts_[code]; }
  /// Returns the first code whose text is not less than `text`; size() if there is none.
  std::uint32_t lower_bound(std::string_view text) const noexcept;
  std::optional<std::uint32_t> find(std::string_view text) const noexcept;
  /// Returns the codes of the texts that begin with `prefix`: [first, second).
  std::pair<std::uint32_t, std::uint32_t> starting_with(std::string_view prefix) const noexcept;
  /// Returns, for each code of this dictionary, the code of the same text in `other`, or kAbsent.
  std::vector<std::uint32_t> codes_in(const Dictionary& other) const;
  const TextArena& texts() const noexcept { return texts_; }
  std::size_t memory_bytes() const noexcept { return texts_.memory_bytes(); }
  /// Overwrites the texts, unless they are in a mapped file. Nothing else may be called afterwards.
  void wipe() const noexcept { texts_.wipe(); }

  static constexpr std::uint32_t kAbsent = 0xffffffffu;

 private:
  mutable TextArena texts_;
};

// Rows without a value hold 0 (or an empty set); see `Column::present`.
using IntColumn = Values<std::int64_t>;
using FloatColumn = Values<double>;  // finite
using BoolColumn = Bitmap;

struct StringColumn {
  Dictionary dictionary;
  Values<std::uint32_t> codes;  // per row
};

/// Sets indexed both ways: by row, to show a row or look up its own needle; by code, to find the rows with one needle.
struct SetColumn {
  Dictionary dictionary;
  Values<std::uint64_t> row_ends;   // row r has the range [row_ends[r-1], row_ends[r]) of `codes`
  Values<std::uint32_t> codes;      // ascending and distinct within a row
  Values<std::uint64_t> code_ends;  // code c has the range [code_ends[c-1], code_ends[c]) of `rows`
  Values<std::uint32_t> rows;       // ascending within a code

  std::span<const std::uint32_t> codes_of(std::size_t row) const noexcept;
  std::span<const std::uint32_t> rows_with(std::uint32_t code) const noexcept;
};

struct Column {
  std::variant<IntColumn, FloatColumn, StringColumn, BoolColumn, SetColumn> data;  // in the order of FieldType
  std::optional<Bitmap> present;                                                   // absent: every row has a value
};

/// Immutable.
class Columns {
 public:
  /// Precondition: one column per field, each with `size` rows.
  Columns(std::shared_ptr<const Schema> schema, std::size_t size, std::vector<Column> columns);

  const Schema& schema() const noexcept { return *schema_; }
  std::shared_ptr<const Schema> shared_schema() const noexcept { return schema_; }
  /// Number of records.
  std::size_t size() const noexcept { return size_; }
  /// Precondition: field < schema().size().
  const Column& operator[](std::size_t field) const noexcept { return columns_[field]; }
  /// Returns the record's value (its own or the default); nullopt if an optional field was omitted. Arguments in range.
  std::optional<FieldValue> value(std::size_t record, std::size_t field) const;
  std::size_t memory_bytes() const noexcept;
  /// Overwrites texts, unless they are in a mapped file. Nothing else may be called afterwards.
  void wipe() const noexcept;

 private:
  std::shared_ptr<const Schema> schema_;
  std::size_t size_;
  std::vector<Column> columns_;
};

}  // namespace lorekeep::filter
