#include "text/multilingual_folding.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "core/values/utf8.h"
#include "text/folding_table.h"

namespace lorekeep::text {
namespace {

namespace tables = multilingual;

// Unicode, section 3.12, "Conjoining Jamo Behavior".
constexpr char32_t kFirstSyllable = 0xAC00;
constexpr char32_t kLeading = 0x1100, kVowel = 0x1161, kTrailing = 0x11A7;
constexpr char32_t kLeadings = 19, kVowels = 21, kTrailings = 28;

constexpr std::size_t kTriple = 3;

constexpr FoldingTable kFoldings{tables::kTableEnd,
                                 tables::kBlockBits,
                                 tables::kBlockOf,
                                 tables::kRecordNumber,
                                 tables::kRecord,
                                 tables::kExpansions,
                                 5,
                                 5,
                                 6,
                                 5};

FoldedPart part_of(char32_t code_point, std::uint32_t bits) noexcept {
  return {code_point, static_cast<CodePointClass>(bits & 7), (bits & 8) != 0, (bits & 16) != 0};
}

// Binary search of an ascending table of triples by their first number, or first two if `two_keys`; null if not found.
const std::uint32_t* find_triple(std::span<const std::uint32_t> table, std::uint64_t key, bool two_keys) noexcept {
  const auto key_at = [&](std::size_t row) {
    const std::uint64_t first = table[row * kTriple];
    return two_keys ? first << 32 | table[row * kTriple + 1] : first;
  };
  std::size_t low = 0;
  std::size_t high = table.size() / kTriple;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (key_at(middle) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < table.size() / kTriple && key_at(low) == key ? &table[low * kTriple] : nullptr;
}

char32_t compose_hangul(char32_t first, char32_t second) noexcept {
  if (first - kLeading < kLeadings && second - kVowel < kVowels) {
    return kFirstSyllable + ((first - kLeading) * kVowels + (second - kVowel)) * kTrailings;
  }
  const char32_t syllable = first - kFirstSyllable;
  const bool open = syllable < kLeadings * kVowels * kTrailings && syllable % kTrailings == 0;
  return open && second > kTrailing && second - kTrailing < kTrailings ? first + (second - kTrailing) : 0;
}

/// Whether the combining class of a code point is not 0.
bool is_combining(char32_t code_point) noexcept {
  static const auto kCombining = [] {
    constexpr std::size_t kBits = 64;
    const auto& ranges = tables::kCombining;
    std::vector<std::uint64_t> bits(ranges[ranges.size() - 2] / kBits + 1);
    for (std::size_t row = 0; row < ranges.size(); row += kTriple) {
      for (std::uint32_t one = ranges[row]; one <= ranges[row + 1]; ++one) {
        bits[one / kBits] |= std::uint64_t{1} << one % kBits;
      }
    }
    return bits;
  }();
  const std::size_t word = code_point / 64;
  return word < kCombining.size() && (kCombining[word] >> code_point % 64 & 1) != 0;
}

constexpr char32_t kFirstComposed = 0xC0;

char32_t composed_of(std::uint16_t row) noexcept {
  return tables::kCompositions[row * kTriple + 2];
}

}  // namespace

std::size_t fold_multilingual(char32_t code_point, FoldedPart (&out)[multilingual::kMaxExpansion]) noexcept {
  std::size_t parts = 0;
  kFoldings.fold(code_point, [&](char32_t folded, std::uint32_t bits) { out[parts++] = part_of(folded, bits); });
  return parts == 1 && out[0].kind == CodePointClass::kIgnored ? 0 : parts;
}

char32_t compose(char32_t first, char32_t second) noexcept {
  if (const char32_t syllable = compose_hangul(first, second)) return syllable;
  const std::uint64_t key = std::uint64_t{first} << 32 | second;
  const auto* found = find_triple(tables::kCompositions, key, true);
  return found == nullptr ? 0 : found[2];
}

std::uint8_t combining_class(char32_t code_point) noexcept {
  if (!is_combining(code_point)) return 0;
  // The last range that begins at or before the code point.
  std::size_t low = 0;
  std::size_t high = tables::kCombining.size() / kTriple;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (tables::kCombining[middle * kTriple] <= code_point ? low : high) = middle;
  }
  return static_cast<std::uint8_t>(tables::kCombining[low * kTriple + 2]);
}

Decomposition decompose(char32_t code_point) noexcept {
  if (code_point < kFirstComposed) return {};
  static const auto kByComposed = [] {
    std::array<std::uint16_t, tables::kCompositions.size() / kTriple> rows;
    std::iota(rows.begin(), rows.end(), std::uint16_t{0});
    std::ranges::sort(rows, {}, composed_of);
    return rows;
  }();
  const auto found = std::ranges::lower_bound(kByComposed, code_point, {}, composed_of);
  if (found == kByComposed.end() || composed_of(*found) != code_point) return {};
  return {tables::kCompositions[*found * kTriple], tables::kCompositions[*found * kTriple + 1]};
}

std::string base_form(std::string_view token) {
  std::string base;
  const char* at = token.data();
  const char* const end = at + token.size();
  const auto append = [&base](char32_t code_point) {
    char bytes[kMaxUtf8Bytes];
    base.append(bytes, encode_utf8(code_point, bytes));
  };
  while (at < end) {
    const char32_t code_point = decode_utf8(at, end);
    const auto bits = static_cast<std::uint32_t>(kFoldings.record_of(code_point));
    if (static_cast<CodePointClass>(bits & 7) == CodePointClass::kDiacritic) continue;
    const auto* found = (bits & 16) == 0 ? nullptr : find_triple(tables::kBases, std::uint64_t{code_point}, false);
    append(found == nullptr ? code_point : found[1]);
    if (found != nullptr && found[2] != 0) append(found[2]);
  }
  return base;
}

}  // namespace lorekeep::text
