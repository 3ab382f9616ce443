// Tables that scripts/generate-unicode.mjs writes as runs of numbers; the compiler expands them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lorekeep {

/// Returns the table of `runs`: n and n numbers; or -n, the first number and the step of a series of n numbers.
template <class Number, std::size_t kSize, std::size_t kLength>
constexpr std::array<Number, kSize> expand(const std::int32_t (&runs)[kLength]) {
  std::array<Number, kSize> table{};
  std::size_t size = 0;
  for (std::size_t at = 0; at < kLength;) {
    const std::int32_t count = runs[at++];
    if (count > 0) {
      for (std::int32_t i = 0; i < count; ++i) table[size++] = static_cast<Number>(runs[at++]);
    } else {
      for (std::int32_t i = 0; i < -count; ++i) table[size++] = static_cast<Number>(runs[at] + i * runs[at + 1]);
      at += 2;
    }
  }
  if (size != kSize) throw "the runs do not fill the table";
  return table;
}

/// Returns the table of rows whose columns, one after the other, have these differences from row to row.
template <class Number, std::size_t kSize, std::size_t kColumns, std::size_t kLength>
constexpr std::array<Number, kSize> sum_columns(const std::int32_t (&runs)[kLength]) {
  const auto differences = expand<std::int32_t, kSize>(runs);
  std::array<Number, kSize> table{};
  std::size_t next = 0;
  for (std::size_t column = 0; column < kColumns; ++column) {
    Number sum = 0;
    for (std::size_t at = column; at < kSize; at += kColumns) {
      sum = static_cast<Number>(sum + static_cast<Number>(differences[next++]));
      table[at] = sum;
    }
  }
  return table;
}

}  // namespace lorekeep
