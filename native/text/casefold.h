// Unicode full case folding (mappings C and F of CaseFolding.txt; not the Turkic ones) and the class "letter or number"
// (general categories L* and N*), from generated tables.
#pragma once

#include <cstddef>

#include "text/unicode_tables.gen.h"

namespace lorekeep::text {

struct FoldedCodePoint {
  char32_t code_point;
  bool is_word;  // a letter or a number
};

inline constexpr std::size_t kMaxFolding = 3;

/// The table record of a code point (see unicode_tables.gen.h).
inline std::int32_t unicode_record(char32_t code_point) noexcept {
  if (code_point >= unicode::kTableEnd) return 0;
  const std::size_t block = unicode::kBlockOf[code_point >> unicode::kBlockBits];
  const std::size_t offset = code_point & ((1u << unicode::kBlockBits) - 1);
  return unicode::kRecord[unicode::kRecordNumber[(block << unicode::kBlockBits) + offset]];
}

/// Writes the full case folding of `code_point` and returns its length, 1 to kMaxFolding code points.
inline std::size_t fold(char32_t code_point, FoldedCodePoint (&out)[kMaxFolding]) noexcept {
  const std::int32_t record = unicode_record(code_point);
  const std::int32_t value = record >> 3;
  if ((record & 2) == 0) {
    out[0] = {static_cast<char32_t>(static_cast<std::int32_t>(code_point) + value), (record & 1) != 0};
    return 1;
  }
  const std::uint32_t* expansion = unicode::kExpansions.data() + (value >> 2);
  const std::size_t count = value & 3;
  for (std::size_t i = 0; i < count; ++i) out[i] = {expansion[i] >> 1, (expansion[i] & 1) != 0};
  return count;
}

}  // namespace lorekeep::text
