#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "llama.h"

namespace lorekeep::engine {

/// The tokenizer of a loaded model. Internal to native/engine. Thread-safe.
class Vocabulary {
 public:
  /// Throws Error(kModelInvalid) when the special tokens that every text gets are missing.
  explicit Vocabulary(const llama_model& model);

  /// Token ids, special tokens included. What looks like a special token in the text is read as plain text. Ill-formed
  /// UTF-8 is read as U+FFFD. Precondition: text.size() <= kMaxTextBytes. Throws Error(kModelInvalid) when the
  /// vocabulary is unusable.
  std::vector<llama_token> tokenize(std::string_view text) const;

  /// The first `limit` tokens of a text, of which the last are the special ones that ended it. Preconditions: `tokens`
  /// are of tokenize(), limit > special_tokens().
  std::vector<llama_token> first_window(std::vector<llama_token> tokens, std::size_t limit) const;

  /// The tokens of an empty text: what every text gets before and after it.
  const std::vector<llama_token>& nothing() const noexcept { return around_nothing_; }

  /// Tokens that there are; every id is below.
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(llama_vocab_n_tokens(vocabulary_)); }

  /// Tokens of a text of which nothing is left.
  std::uint32_t special_tokens() const noexcept { return special_tokens_; }

 private:
  std::vector<llama_token> tokenize_valid(std::string_view text) const;

  const llama_vocab* vocabulary_;
  std::uint32_t special_tokens_ = 0;
  std::vector<llama_token> around_nothing_;
};

}  // namespace lorekeep::engine
