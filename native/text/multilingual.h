// The multilingual tokenizer: words where a script has them, overlapping pairs where it has not.
//
//   letters, numbers and marks of spaced scripts   one word per run
//   Han, Kana, Bopomofo; Hangul                    overlapping pairs of code points per run
//   Thai, Lao, Khmer, Myanmar ...                  overlapping pairs of letters with the marks on them
//
// A run of one character is a token of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "text/multilingual_folding.h"
#include "text/token.h"

namespace lorekeep::text {

/// What begins extra tokens, before the base form of a word with diacritics and before the beginning of a word. No word
/// of a text contains them.
inline constexpr char kBaseFormMark = '\x01';
inline constexpr char kBeginningMark = '\x02';

/// Walks one text. Ill-formed UTF-8 counts as U+FFFD, which separates.
class MultilingualScanner {
 public:
  explicit MultilingualScanner(const TokenVisitor& visit) : visit_(visit) {}

  /// Visits all tokens in order. Extra tokens, that documents are found by but that do not count as words of theirs:
  /// every single Han, Kana or Hangul character of a longer run, kBaseFormMark + base form of words with
  /// diacritics, kBeginningMark + beginning of words that have one (word_beginning.h).
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
  char32_t unit_[kMaxTokenBytes];  // the word, or the character with its marks, that is being read
  std::size_t unit_size_ = 0;
  std::size_t unit_bytes_ = 0;
  bool has_base_ = false;
  std::string before_;  // the unit before, of a run of pairs
  std::size_t units_ = 0;
};

}  // namespace lorekeep::text
