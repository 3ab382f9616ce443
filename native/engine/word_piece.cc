#include "engine/word_piece.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "core/values/utf8.h"
#include "engine/bert_tables.gen.h"

namespace lorekeep::engine {
namespace {

/// What a code point is to BERT. The generated tables use these numbers.
enum class BertCharacter : std::uint32_t {
  kLetter = 0,  // a part of a word
  kDropped = 1,
  kSpace = 2,
  kAlone = 3,  // a word of its own: punctuation, Chinese characters
  kMark = 4,   // dropped if accents are stripped
};

/// Returns the row whose first number is the last one up to `key`; null if there is none. Rows have `columns` numbers.
const std::uint32_t* last_row(std::span<const std::uint32_t> table, std::size_t columns, char32_t key) noexcept {
  std::size_t low = 0;
  std::size_t high = table.size() / columns;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (table[middle * columns] <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : &table[(low - 1) * columns];
}

BertCharacter kind_of(char32_t code_point) noexcept {
  const std::uint32_t* const range = last_row(bert::kKinds, 3, code_point);
  return range == nullptr || code_point > range[1] ? BertCharacter::kLetter : static_cast<BertCharacter>(range[2]);
}

/// Calls visit(code point) for each part of the code point under a table of changes.
template <class Visit>
void for_each_part(std::span<const std::uint32_t> table, std::size_t most, char32_t code_point, Visit visit) {
  const std::uint32_t* const row = last_row(table, most + 1, code_point);
  if (row == nullptr || row[0] != code_point) return visit(code_point);
  for (std::size_t i = 1; i <= most && row[i] != 0; ++i) visit(static_cast<char32_t>(row[i]));
}

// Unicode, section 3.12, "Conjoining Jamo Behavior".
constexpr char32_t kFirstSyllable = 0xAC00, kLastSyllable = 0xD7A3;
constexpr char32_t kLeading = 0x1100, kVowel = 0x1161, kTrailing = 0x11A7;
constexpr char32_t kVowels = 21, kTrailings = 28;

template <class Visit>
void strip(char32_t code_point, Visit visit) {
  if (code_point < kFirstSyllable || code_point > kLastSyllable) {
    return for_each_part(bert::kStripped, bert::kMostStripped, code_point, visit);
  }
  const char32_t syllable = code_point - kFirstSyllable;
  visit(kLeading + syllable / (kVowels * kTrailings));
  visit(kVowel + syllable / kTrailings % kVowels);
  if (syllable % kTrailings != 0) visit(kTrailing + syllable % kTrailings);
}

/// Calls take(word) for each word.
template <class Take>
class WordReader {
 public:
  WordReader(const BertOptions& options, Take take) : options_(options), take_(std::move(take)) {}

  void read(char32_t code_point) {
    const BertCharacter kind = kind_of(code_point);
    if (kind == BertCharacter::kDropped || code_point == kReplacement) return;
    if (kind == BertCharacter::kSpace) return end_word();
    if (kind == BertCharacter::kMark && options_.strip_accents) return;
    const auto add_lowered = [&](char32_t part) { add(part, kind); };
    const auto add_stripped = [&](char32_t part) {
      if (!options_.lower_case) return add_lowered(part);
      for_each_part(bert::kLowered, bert::kMostLowered, part, add_lowered);
    };
    if (!options_.strip_accents) return add_stripped(code_point);
    strip(code_point, add_stripped);
  }

  void end_word() {
    if (!word_.empty()) take_(word_);
    word_.clear();
  }

 private:
  void add(char32_t part, BertCharacter whole) {
    const bool alone = whole == BertCharacter::kAlone || kind_of(part) == BertCharacter::kAlone;
    if (alone) end_word();
    char bytes[kMaxUtf8Bytes];
    word_.append(bytes, encode_utf8(part, bytes));
    if (alone) end_word();
  }

  const BertOptions& options_;
  Take take_;
  std::string word_;
};

bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

std::vector<std::string> bert_words(std::string_view utf8, const BertOptions& options) {
  std::vector<std::string> words;
  WordReader reader(options, [&words](const std::string& word) { words.push_back(word); });
  const char* at = utf8.data();
  for (const char* const end = at + utf8.size(); at < end;) reader.read(decode_utf8(at, end));
  reader.end_word();
  return words;
}

WordPiece::WordPiece(const std::vector<std::string_view>& pieces, std::int32_t unknown, const BertOptions& options)
    : options_(options), unknown_(unknown) {
  for (std::size_t token = 0; token < pieces.size(); ++token) {
    std::string_view piece = pieces[token];
    const bool first = piece.starts_with(kWordMark);
    if (first) piece.remove_prefix(kWordMark.size());
    if (piece.empty()) continue;
    (first ? first_ : following_).try_emplace(piece, static_cast<std::int32_t>(token));
    longest_ = std::max(longest_, piece.size());
  }
}

std::vector<std::int32_t> WordPiece::tokenize(std::string_view utf8, const CancelToken* cancel,
                                              std::size_t most) const {
  constexpr std::size_t kCharactersPerPoll = 1024;
  std::vector<std::int32_t> tokens;
  WordReader reader(options_, [this, &tokens](const std::string& word) { append(word, tokens); });
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  for (std::size_t read = 0; at < end && tokens.size() <= most; ++read) {
    if (read % kCharactersPerPoll == 0 && cancel != nullptr) cancel->check();
    reader.read(decode_utf8(at, end));
  }
  reader.end_word();
  return tokens;
}

/// Appends the longest pieces from the left, or the unknown token if they do not spell the word.
void WordPiece::append(std::string_view word, std::vector<std::int32_t>& tokens) const {
  const std::size_t before = tokens.size();
  const auto unknown = [&] {
    tokens.resize(before);
    tokens.push_back(unknown_);
  };
  const auto characters = word.size() - static_cast<std::size_t>(std::ranges::count_if(word, continues_character));
  if (characters > kMaxWordCharacters) return unknown();
  for (std::size_t at = 0; at < word.size();) {
    const auto& pieces = at == 0 ? first_ : following_;
    std::size_t end = std::min(word.size(), at + longest_);
    for (;; --end) {
      if (end == at) return unknown();
      if (end < word.size() && continues_character(word[end])) continue;
      const auto found = pieces.find(word.substr(at, end - at));
      if (found == pieces.end()) continue;
      tokens.push_back(found->second);
      break;
    }
    at = end;
  }
}

}  // namespace lorekeep::engine
