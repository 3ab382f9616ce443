#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "llama.h"

namespace lorekeep::engine {

/// Returns the tokens of a text. Ill-formed UTF-8 is read as U+FFFD. `around`: with the special tokens around every
/// text. `control`: whether spellings of control tokens become control tokens. Throws Error(kModelInvalid) if the
/// vocabulary cannot spell the text.
std::vector<llama_token> tokenize(const llama_vocab& vocabulary, std::string_view text, bool around, bool control);

/// The tokenizer of a loaded model. Internal to native/engine. Thread-safe.
class Vocabulary {
 public:
  /// Throws Error(kModelInvalid) if the special tokens that every text gets are missing.
  explicit Vocabulary(const llama_model& model);

  /// Returns token ids, special tokens included. Spellings of special tokens in the text are read as plain text, and
  /// ill-formed UTF-8 as U+FFFD. Precondition: text.size() <= kMaxTextBytes. Throws Error(kModelInvalid) if the
  /// vocabulary is unusable.
  std::vector<llama_token> tokenize(std::string_view text) const {
    return engine::tokenize(*vocabulary_, text, true, false);
  }

  /// Truncates a text to `limit` tokens, keeping the special tokens at its end. Preconditions: `tokens` come from
  /// tokenize(), limit > special_tokens().
  std::vector<llama_token> first_window(std::vector<llama_token> tokens, std::size_t limit) const;

  /// The tokens of an empty text: the special tokens around every text.
  const std::vector<llama_token>& nothing() const noexcept { return around_nothing_; }

  /// Number of tokens; every id is less.
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(llama_vocab_n_tokens(vocabulary_)); }

  /// Number of special tokens that every text gets.
  std::uint32_t special_tokens() const noexcept { return special_tokens_; }

 private:
  const llama_vocab* vocabulary_;
  std::uint32_t special_tokens_ = 0;
  std::vector<llama_token> around_nothing_;
};

}  // namespace lorekeep::engine
