// The multilingual tokenizer: words in scripts that put spaces between them, overlapping pairs in the others.
//
//   letters, numbers and marks of spaced scripts   one word per run
//   Han, Kana, Bopomofo; Hangul                    overlapping pairs of code points per run
//   Thai, Lao, Khmer, Myanmar ...                  overlapping pairs of letters with the marks on them
//
// A run of one character is a token by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "text/multilingual_folding.h"
#include "text/token.h"

namespace lorekeep::text {

/// Prefixes of extra tokens, for the base form of a word with diacritics and for the beginning of a word. Words never
/// contain these bytes.
inline constexpr char kBaseFormMark = '\x01';
inline constexpr char kBeginningMark = '\x02';

/// Tokenizes one text. Ill-formed UTF-8 counts as U+FFFD, which separates tokens.
class MultilingualScanner {
 public:
  explicit MultilingualScanner(const TokenVisitor& visit) : visit_(visit) {}

  /// Visits all tokens in order. Extra tokens match queries but do not add to a document's length: every single Han,
  /// Kana or Hangul character of a longer run, kBaseFormMark + base form of words with diacritics, kBeginningMark +
  /// beginning of words that have one (word_beginning.h).
  void scan(std::string_view utf8);

 private:
  enum class Run : std::uint8_t { kNone, kWord, kIdeographs, kHangul, kComplex };

  void add(FoldedPart part);
  bool join(FoldedPart part);
  void separate(char32_t separator);
  void append(FoldedPart part);
  void end_unit();
  void end_run();
  void emit_word();

  const TokenVisitor& visit_;
  Run run_ = Run::kNone;
  char32_t unit_[kMaxTokenBytes];  // the word being read, or the character with its marks
  std::size_t unit_size_ = 0;
  std::size_t unit_bytes_ = 0;
  bool has_base_ = false;
  std::string before_;  // the previous unit, in a run of pairs
  std::size_t units_ = 0;
};

}  // namespace lorekeep::text
