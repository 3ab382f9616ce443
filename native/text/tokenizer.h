// Text to tokens: Unicode case folding, then a split on everything that is neither a letter nor a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/casefold.h"

namespace lorekeep::text {

/// The numbers are written into files: never reuse one.
enum class Tokenizer : std::uint32_t {
  kBasic = 1,     // case folding and splitting alone
  kEnhanced = 2,  // then English stopwords are dropped and English suffixes stripped (see english.h)
};

/// Counts up whenever the same text would give other tokens than before (Unicode version, stopwords, suffix rules,
/// kMaxTokenBytes): indexes on disk made under another revision are rebuilt.
inline constexpr std::uint32_t kAnalysisRevision = 1;

/// A longer run of letters and numbers is cut into tokens of at most this many bytes, between code points; so no text
/// can make a token that costs more than its share, and the same run still finds itself.
inline constexpr std::size_t kMaxTokenBytes = 1024;

/// "basic" or "enhanced".
std::string_view tokenizer_name(Tokenizer tokenizer) noexcept;
/// Whether `number` names a tokenizer of this program; for numbers read from files.
bool is_tokenizer(std::uint32_t number) noexcept;

/// Walks the tokens of one text without allocating. Ill-formed UTF-8 counts as U+FFFD, which separates tokens.
class TokenStream {
 public:
  /// `utf8` must outlive the stream.
  TokenStream(std::string_view utf8, Tokenizer tokenizer) noexcept
      : at_(utf8.data()), end_(utf8.data() + utf8.size()), tokenizer_(tokenizer) {}
  TokenStream(const TokenStream&) = delete;
  TokenStream& operator=(const TokenStream&) = delete;

  /// The next token, in folded UTF-8, valid until the next call; false at the end of the text.
  bool next(std::string_view& token) noexcept;

 private:
  std::size_t next_word() noexcept;
  bool append_folded(std::size_t& size) noexcept;

  const char* at_;
  const char* end_;
  Tokenizer tokenizer_;
  FoldedCodePoint folded_[kMaxFolding];  // of the code point before at_: [folded_next_, folded_count_) is still to come
  std::uint8_t folded_next_ = 0;
  std::uint8_t folded_count_ = 0;
  char token_[kMaxTokenBytes];
};

/// All tokens of a text, in order.
std::vector<std::string> tokenize(std::string_view utf8, Tokenizer tokenizer);

}  // namespace lorekeep::text
