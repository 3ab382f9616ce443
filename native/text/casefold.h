// Unicode full case folding (mappings C and F of CaseFolding.txt; not the Turkic ones) and the class "letter or number"
// (general categories L* and N*), from generated tables.
#pragma once

#include <cstddef>

#include "text/folding_table.h"
#include "text/unicode_tables.gen.h"

namespace lorekeep::text {

struct FoldedCodePoint {
  char32_t code_point;
  bool is_word;  // a letter or a number
};

inline constexpr std::size_t kMaxFolding = 3;

inline constexpr FoldingTable kCaseFoldings{unicode::kTableEnd,
                                            unicode::kBlockBits,
                                            unicode::kBlockOf,
                                            unicode::kRecordNumber,
                                            unicode::kRecord,
                                            unicode::kExpansions,
                                            1,
                                            1,
                                            3,
                                            2};

/// Writes the full case folding of `code_point` and returns its length, 1 to kMaxFolding code points.
inline std::size_t fold(char32_t code_point, FoldedCodePoint (&out)[kMaxFolding]) noexcept {
  std::size_t length = 0;
  kCaseFoldings.fold(code_point, [&](char32_t folded, std::uint32_t flags) { out[length++] = {folded, flags != 0}; });
  return length;
}

}  // namespace lorekeep::text
