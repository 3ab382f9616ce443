// Tokenizers: Unicode case folding, then a split at everything that is neither a letter nor a number; or the
// multilingual tokenizer (multilingual.h), for scripts without spaces or with marks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/threads/cancel_token.h"
#include "text/casefold.h"
#include "text/multilingual.h"
#include "text/token.h"

namespace lorekeep::text {

/// The numbers are written into files: never reuse one.
enum class Tokenizer : std::uint32_t {
  kBasic = 1,         // only case folding and splitting
  kEnhanced = 2,      // also drops English stopwords and strips English suffixes (see english.h)
  kMultilingual = 3,  // see multilingual.h
};

/// Raise it whenever the tokenizer produces different tokens for the same text (Unicode version, stopwords, suffix
/// rules, kMaxTokenBytes). Indexes on disk with another revision are rebuilt.
constexpr std::uint32_t analysis_revision(Tokenizer tokenizer) noexcept {
  return tokenizer == Tokenizer::kMultilingual ? 4 : 1;
}

struct NamedTokenizer {
  Tokenizer tokenizer;
  std::string_view name;
};

/// Every tokenizer of this program.
inline constexpr NamedTokenizer kTokenizers[] = {
    {Tokenizer::kBasic, "basic"}, {Tokenizer::kEnhanced, "enhanced"}, {Tokenizer::kMultilingual, "multilingual"}};

/// Returns the name; "unknown" for a number that is no tokenizer of this program.
std::string_view tokenizer_name(Tokenizer tokenizer) noexcept;
/// Returns whether `number`, read from a file, is a known tokenizer.
bool is_tokenizer(std::uint32_t number) noexcept;

/// For each byte, whether a text may be divided there: its tokens are those of the part before the byte and those of
/// the part after it, in order.
using Dividers = std::array<bool, 256>;
const Dividers& dividers_of(Tokenizer tokenizer) noexcept;

/// Iterates over the tokens of one text for kBasic or kEnhanced, without allocating. Ill-formed UTF-8 counts as U+FFFD,
/// which separates tokens.
class TokenStream {
 public:
  /// `utf8` must outlive the stream. `cancel` is polled every kTextBytesPerPoll; null: the text is short.
  TokenStream(std::string_view utf8, Tokenizer tokenizer, const CancelToken* cancel = nullptr) noexcept
      : at_(utf8.data()),
        stop_(cancel == nullptr ? utf8.data() + utf8.size() : utf8.data()),
        end_(utf8.data() + utf8.size()),
        tokenizer_(tokenizer),
        cancel_(cancel) {}
  TokenStream(const TokenStream&) = delete;
  TokenStream& operator=(const TokenStream&) = delete;

  /// Sets `token` to the next token, in folded UTF-8, valid until the next call. Returns false at the end of the text.
  /// Throws as CancelToken::check().
  bool next(std::string_view& token);

 private:
  std::size_t next_word();
  bool reads_on(const char* at);
  bool append_folded(std::size_t& size) noexcept;

  const char* at_;
  const char* stop_;  // of the next poll, or the end
  const char* end_;
  Tokenizer tokenizer_;
  const CancelToken* cancel_;
  FoldedCodePoint folded_[kMaxFolding];  // of the code point before at_; [folded_next_, folded_count_) are pending
  std::uint8_t folded_next_ = 0;
  std::uint8_t folded_count_ = 0;
  char token_[kMaxTokenBytes];
};

/// Calls visit(token, kind) for every token of a text, in order. Polls `cancel` every kTextBytesPerPoll; null: the text
/// is short.
template <class Visit>
void for_each_token(std::string_view utf8, Tokenizer tokenizer, Visit&& visit, const CancelToken* cancel = nullptr) {
  if (tokenizer == Tokenizer::kMultilingual) {
    const TokenVisitor visitor = std::ref(visit);
    MultilingualScanner(visitor, cancel).scan(utf8);
    return;
  }
  TokenStream tokens(utf8, tokenizer, cancel);
  for (std::string_view token; tokens.next(token);) visit(token, TokenKind::kWord);
}

/// Returns the words of a text in order, without compounds and extra tokens.
std::vector<std::string> tokenize(std::string_view utf8, Tokenizer tokenizer);

/// Returns the distinct compounds of a query that are not among its words, in order, with the number of their
/// occurrences.
std::vector<std::pair<std::string, std::uint32_t>> compounds_of(std::string_view utf8, Tokenizer tokenizer);

}  // namespace lorekeep::text
