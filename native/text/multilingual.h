// The multilingual tokenizer: words in scripts that put spaces between them, overlapping pairs in the others.
//
//   letters, numbers and marks of spaced scripts   one word per run
//   words joined by hyphens, dots, slashes ...     the words, and the whole (compounds.h)
//   Han, Kana, Bopomofo; Hangul                    overlapping pairs of code points per run
//   Thai, Lao, Khmer, Myanmar ...                  overlapping pairs of letters with the marks on them
//
// A run of one character is a token by itself. Canonically equivalent texts give the same tokens.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/threads/cancel_token.h"
#include "core/values/utf8.h"
#include "text/combining_marks.h"
#include "text/compounds.h"
#include "text/multilingual_folding.h"
#include "text/token.h"

namespace lorekeep::text {

/// Prefixes of extra tokens, for the base form of a word with diacritics and for the beginning of a word. Words never
/// contain these bytes.
inline constexpr char kBaseFormMark = '\x01';
inline constexpr char kBeginningMark = '\x02';

/// See dividers_of().
std::array<bool, 256> multilingual_dividers() noexcept;

/// Tokenizes texts, one after another. Ill-formed UTF-8 counts as U+FFFD, which separates tokens.
class MultilingualScanner {
 public:
  /// `cancel` is polled every kTextBytesPerPoll; null: the text is short.
  explicit MultilingualScanner(const TokenVisitor& visit, const CancelToken* cancel = nullptr)
      : visit_(visit), cancel_(cancel) {}

  /// Visits all tokens in order. Extra tokens match queries but do not add to a document's length: every single Han,
  /// Kana or Hangul character of a longer run, kBaseFormMark + base form of words with diacritics, kBeginningMark +
  /// beginning of words that have one (word_beginning.h), and the parts of "camelCase".
  void scan(std::string_view utf8);

  /// During a visit: the place of the token in the text; empty for the tokens of scripts without spaces.
  TokenPlace place() const noexcept { return place_; }

 private:
  /// A character with more marks than this is split: no orthography needs more.
  static constexpr std::size_t kMaxCluster = 8;

  enum class Run : std::uint8_t { kNone, kWord, kIdeographs, kHangul, kComplex };
  enum class Case : std::uint8_t { kNone, kLower, kUpper };

  struct Letter {
    char32_t code_point;  // folded
    Case letter_case;
    std::size_t from;  // in the text
  };

  void read(char32_t code_point);
  void read_ascii(char32_t code_point);
  bool read_symbol(char32_t code_point, const char*& at, const char* end);
  void add(FoldedPart part, std::uint8_t combining_class);
  void add_character(FoldedPart part);
  bool join(FoldedPart part);
  void replace_last(FoldedPart part);
  void end_marks();
  void separate(char32_t separator);
  void append(FoldedPart part);
  void end_unit();
  void end_run();
  void emit_word();
  void emit_beginning(std::string_view base, TokenPlace place);
  void emit_case_parts(std::size_t count, std::size_t word_end);
  void visit(std::string_view token, TokenKind kind, TokenPlace place);
  void visit_pair(std::string_view token, TokenKind kind) { visit(token, kind, {}); }
  auto compound_visitor() {
    return [this](std::string_view token, TokenPlace place) { visit(token, TokenKind::kCompound, place); };
  }

  const TokenVisitor& visit_;
  const CancelToken* cancel_;
  Run run_ = Run::kNone;
  Letter unit_[kMaxTokenBytes];  // the word being read, or the character with its marks
  std::size_t unit_size_ = 0;
  std::size_t unit_bytes_ = 0;
  bool has_base_ = false;
  CombiningMarks marks_;  // that follow the unit
  char word_[kMaxTokenBytes];
  // The previous unit, in a run of pairs, and the one that follows.
  char pair_[2 * kMaxCluster * kMaxUtf8Bytes];
  std::size_t before_bytes_ = 0;  // of the previous unit
  std::size_t units_ = 0;

  Compounds compounds_;
  const char* text_ = nullptr;
  std::size_t from_ = 0;  // the code point that is read, in the text
  std::size_t to_ = 0;
  std::size_t marks_from_ = 0;
  Case case_ = Case::kNone;
  char32_t previous_ = 0;           // separator; 0: at the beginning of the text, or a part of a word
  std::optional<std::size_t> dot_;  // place of the dot before the word: ".NET"
  TokenPlace place_ = {};
};

}  // namespace lorekeep::text
