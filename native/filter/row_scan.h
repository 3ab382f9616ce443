// The inner loop of every comparison: tests each row, 64 rows per word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/threads/cancel_token.h"
#include "core/values/bitmap.h"

namespace lorekeep::filter {

inline constexpr std::size_t kRowsPerPoll = 65'536;

/// Bit i is flags[i], which is 0 or 1.
inline std::uint64_t packed(const unsigned char (&flags)[64]) noexcept {
  std::uint64_t word = 0;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    std::uint64_t eight;
    std::memcpy(&eight, flags + 8 * byte, 8);
    // Multiplying moves flag i from bit 8i to bit 56 + i: the top byte then holds all eight in order, without carries.
    word |= (eight * 0x0102040810204080u) >> 56 << (8 * byte);
  }
  return word;
}

/// Bit i is test(i). `test` must be cheap and free of branches for the compiler to make good code of it.
template <class Test>
Bitmap scan_rows(std::size_t rows, const CancelToken* cancel, Test test) {
  Bitmap result(rows);
  std::uint64_t* words = result.words().data();
  for (std::size_t begin = 0; begin < rows; begin += kRowsPerPoll) {
    if (cancel != nullptr) cancel->check();
    const std::size_t end = std::min(rows, begin + kRowsPerPoll);
    std::size_t row = begin;
    for (; row + 64 <= end; row += 64) {
      unsigned char flags[64];  // all tests first, which the compiler can vectorise, then the packing
      for (std::size_t bit = 0; bit < 64; ++bit) flags[bit] = test(row + bit) ? 1 : 0;
      words[row / 64] = packed(flags);
    }
    for (; row < end; ++row) words[row / 64] |= std::uint64_t{test(row)} << (row % 64);
  }
  return result;
}

}  // namespace lorekeep::filter
