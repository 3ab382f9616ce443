#include "text/english.h"

#include <array>
#include <cstdint>

namespace lorekeep::text {
namespace {

// The trailing "s" and "t" are left over when contractions and genitives ("don't", "it's") are split.
constexpr std::string_view kStopwords[] = {
    "a",    "about", "also",  "an",    "and",  "are",   "as",    "at",   "be",   "been", "but",  "by",  "can", "do",
    "does", "for",   "from",  "had",   "has",  "have",  "he",    "her",  "him",  "his",  "how",  "i",   "if",  "in",
    "into", "is",    "it",    "its",   "may",  "more",  "no",    "not",  "of",   "on",   "or",   "our", "she", "such",
    "than", "that",  "the",   "their", "then", "there", "these", "they", "this", "to",   "us",   "was", "we",  "were",
    "what", "when",  "where", "which", "who",  "whose", "why",   "will", "with", "you",  "your", "s",   "t",
};
constexpr std::size_t kLongestStopword = 5;

// Packs a token of up to 8 bytes into one number; never 0, since tokens are not empty.
constexpr std::uint64_t pack(std::string_view token) {
  std::uint64_t key = 0;
  for (const char c : token) key = (key << 8) | static_cast<std::uint8_t>(c);
  return key;
}

// Open addressing with linear probing; a quarter full, so a miss usually costs one probe.
constexpr std::size_t kSlotBits = 8;
constexpr std::size_t slot_of(std::uint64_t key) {
  return (key * 0x9E3779B97F4A7C15u) >> (64 - kSlotBits);
}

constexpr auto make_stopword_table() {
  std::array<std::uint64_t, std::size_t{1} << kSlotBits> table{};
  for (const std::string_view word : kStopwords) {
    std::size_t slot = slot_of(pack(word));
    while (table[slot] != 0) slot = (slot + 1) % table.size();
    table[slot] = pack(word);
  }
  return table;
}
constexpr auto kStopwordTable = make_stopword_table();

constexpr bool is_vowel(char c) {
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y';
}

bool has_vowel(std::string_view stem) noexcept {
  for (const char c : stem) {
    if (is_vowel(c)) return true;
  }
  return false;
}

bool is_lower_ascii(std::string_view token) noexcept {
  for (const char c : token) {
    if (c < 'a' || c > 'z') return false;
  }
  return true;
}

// Returns the size of the stem without `suffix` if it keeps `least` letters and a vowel, else 0.
std::size_t stem_size(std::string_view token, std::string_view suffix, std::size_t least) noexcept {
  if (token.size() < suffix.size() + least || !token.ends_with(suffix)) return 0;
  const std::size_t stem = token.size() - suffix.size();
  return has_vowel(token.substr(0, stem)) ? stem : 0;
}

std::size_t strip_plural(char* token, std::size_t size) noexcept {
  const std::string_view word(token, size);
  if (size > 4 && word.ends_with("ies")) {
    token[size - 3] = 'y';
    return size - 2;
  }
  if (word.ends_with("sses")) return size - 2;
  const bool plural = word.back() == 's' && word[size - 2] != 'u' && word[size - 2] != 's';
  return plural ? size - 1 : size;
}

std::size_t strip_ending(const char* token, std::size_t size) noexcept {
  const std::string_view word(token, size);
  for (const std::string_view suffix : {"ization", "ation", "ically", "ment", "ness", "ly", "al"}) {
    if (const std::size_t stem = stem_size(word, suffix, 4)) return stem;
  }
  for (const std::string_view suffix : {"ing", "ed"}) {
    const std::size_t stem = stem_size(word, suffix, 3);
    if (stem == 0) continue;
    const char last = word[stem - 1];
    const bool doubled = stem > 3 && last == word[stem - 2] && last != 'l' && last != 's' && last != 'z';
    return doubled ? stem - 1 : stem;
  }
  return size;
}

// The longest suffix that the three rules remove together. A letter before it may be removed, too: "e", or a doubled
// consonant.
constexpr std::string_view kRemoved[] = {"izations", "ations", "ically", "ments", "nesses", "lies",
                                         "ly",       "als",    "ings",   "eds",   "es",     "ies"};

}  // namespace

bool may_begin_english_suffix(std::string_view rest) noexcept {
  for (const std::string_view removed : kRemoved) {
    if (removed.starts_with(rest) || removed.starts_with(rest.substr(1))) return true;
  }
  return false;
}

bool is_english_stopword(std::string_view token) noexcept {
  if (token.size() > kLongestStopword) return false;
  const std::uint64_t key = pack(token);
  for (std::size_t slot = slot_of(key); kStopwordTable[slot] != 0; slot = (slot + 1) % kStopwordTable.size()) {
    if (kStopwordTable[slot] == key) return true;
  }
  return false;
}

std::size_t strip_english_suffix(char* token, std::size_t size) noexcept {
  if (size < 4 || !is_lower_ascii({token, size})) return size;
  size = strip_plural(token, size);
  size = strip_ending(token, size);
  if (size > 4 && token[size - 1] == 'e') return size - 1;
  if (size > 3 && token[size - 1] == 'y' && !is_vowel(token[size - 2])) token[size - 1] = 'i';
  return size;
}

}  // namespace lorekeep::text
