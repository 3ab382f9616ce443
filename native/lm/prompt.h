// Token ids of a prompt. Only text of the template is searched for control tokens, never text from outside.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "llama.h"
#include "lm/chat_template.h"
#include "lm/token_table.h"

namespace lorekeep::lm {

struct Prompt {
  std::vector<llama_token> tokens;
  /// Tokens that belong to each message, template text around it included; together with `other` all tokens.
  std::vector<std::uint32_t> message_tokens;
  std::uint32_t other = 0;  // of no message: the beginning of text, the beginning of the reply
};

/// What tokenising prompts needs of a vocabulary. Immutable; the vocabulary must outlive it.
class PromptTokenizer {
 public:
  explicit PromptTokenizer(const llama_vocab* vocabulary);

  /// Gives the tokens that llama.cpp gives for the joined text, as long as no input spells a control token; those that
  /// it spells stay plain text. The beginning-of-text token is added if the vocabulary asks for it and the prompt does
  /// not begin with it. Throws Error(kModelInvalid) if the vocabulary is unusable.
  Prompt tokenize(std::span<const PromptPart> parts) const;

  /// Plain text without special tokens.
  std::vector<llama_token> tokenize_text(const std::string& text) const;

 private:
  struct Control {
    std::string text;
    llama_token token;
    bool left_strip;
    bool right_strip;
  };
  struct Fragment;
  std::vector<Fragment> split(std::span<const PromptPart> parts) const;

  const llama_vocab* vocabulary_;
  std::vector<Control> controls_;                          // by falling length
  std::vector<std::vector<std::uint32_t>> by_first_byte_;  // indexes of controls_
};

/// The bytes and kinds of all tokens. `tags`: control tokens with these texts count as text, so that the text filter
/// and constraints see them.
std::shared_ptr<const TokenTable> read_token_table(const llama_vocab* vocabulary, const ThinkingTags& tags);

}  // namespace lorekeep::lm
