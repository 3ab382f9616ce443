#include "filter/columns.h"

#include <string>

namespace lorekeep::filter {
namespace {

std::size_t bytes_of(const Bitmap& bits) {
  return bits.words().capacity() * sizeof(std::uint64_t);
}

struct MemoryBytes {
  std::size_t operator()(const IntColumn& column) const { return column.memory_bytes(); }
  std::size_t operator()(const FloatColumn& column) const { return column.memory_bytes(); }
  std::size_t operator()(const BoolColumn& column) const { return bytes_of(column); }
  std::size_t operator()(const StringColumn& column) const {
    return column.dictionary.memory_bytes() + column.codes.memory_bytes();
  }
  std::size_t operator()(const SetColumn& column) const {
    return column.dictionary.memory_bytes() + column.row_ends.memory_bytes() + column.codes.memory_bytes() +
           column.code_ends.memory_bytes() + column.rows.memory_bytes();
  }
};

struct ValueAt {
  std::size_t row;
  FieldValue operator()(const IntColumn& column) const { return column[row]; }
  FieldValue operator()(const FloatColumn& column) const { return column[row]; }
  FieldValue operator()(const BoolColumn& column) const { return column.test(row); }
  FieldValue operator()(const StringColumn& column) const { return std::string(column.dictionary[column.codes[row]]); }
  FieldValue operator()(const SetColumn& column) const {
    StringSet set;
    for (const std::uint32_t code : column.codes_of(row)) set.emplace_back(column.dictionary[code]);
    return set;
  }
};

std::span<const std::uint32_t> slice(const Values<std::uint32_t>& values, const Values<std::uint64_t>& ends,
                                     std::size_t index) {
  const std::uint64_t begin = index == 0 ? 0 : ends[index - 1];
  return {values.data() + begin, static_cast<std::size_t>(ends[index] - begin)};
}

}  // namespace

std::uint32_t Dictionary::lower_bound(std::string_view text) const noexcept {
  std::uint32_t low = 0;
  std::uint32_t high = size();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (texts_[middle] < text) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<std::uint32_t> Dictionary::find(std::string_view text) const noexcept {
  const std::uint32_t code = lower_bound(text);
  if (code == size() || texts_[code] != text) return std::nullopt;
  return code;
}

std::pair<std::uint32_t, std::uint32_t> Dictionary::starting_with(std::string_view prefix) const noexcept {
  const std::uint32_t first = lower_bound(prefix);
  std::uint32_t low = first;
  std::uint32_t high = size();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (texts_[middle].starts_with(prefix)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {first, low};
}

std::vector<std::uint32_t> Dictionary::codes_in(const Dictionary& other) const {
  std::vector<std::uint32_t> codes(size(), kAbsent);
  std::uint32_t theirs = 0;
  for (std::uint32_t ours = 0; ours < size(); ++ours) {
    while (theirs < other.size() && other[theirs] < texts_[ours]) ++theirs;
    if (theirs < other.size() && other[theirs] == texts_[ours]) codes[ours] = theirs;
  }
  return codes;
}

std::span<const std::uint32_t> SetColumn::codes_of(std::size_t row) const noexcept {
  return slice(codes, row_ends, row);
}

std::span<const std::uint32_t> SetColumn::rows_with(std::uint32_t code) const noexcept {
  return slice(rows, code_ends, code);
}

Columns::Columns(std::shared_ptr<const Schema> schema, std::size_t size, std::vector<Column> columns)
    : schema_(std::move(schema)), size_(size), columns_(std::move(columns)) {}

std::optional<FieldValue> Columns::value(std::size_t record, std::size_t field) const {
  const Column& column = columns_[field];
  if (column.present && !column.present->test(record)) return std::nullopt;
  return std::visit(ValueAt{record}, column.data);
}

std::size_t Columns::memory_bytes() const noexcept {
  std::size_t total = 0;
  for (const Column& column : columns_) {
    total += std::visit(MemoryBytes{}, column.data);
    if (column.present) total += bytes_of(*column.present);
  }
  return total;
}

void Columns::wipe() const noexcept {
  for (const Column& column : columns_) {
    if (const auto* const text = std::get_if<StringColumn>(&column.data)) text->dictionary.wipe();
    if (const auto* const set = std::get_if<SetColumn>(&column.data)) set->dictionary.wipe();
  }
}

}  // namespace lorekeep::filter
