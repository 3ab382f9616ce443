// Token ids of a prompt. Only text of the template is searched for control tokens, never text from outside. Internal to
// native/lm.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/values/seeded_hash.h"
#include "lm/prompt/chat_template.h"
#include "lm/text/token_table.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {

struct Prompt {
  std::vector<Token> tokens;
  /// Tokens that belong to each message, template text around it included. Together with `other` all tokens.
  std::vector<std::uint32_t> message_tokens;
  std::uint32_t other = 0;  // of no message, such as the beginning of text
};

/// Immutable; the vocabulary must outlive it.
class PromptTokenizer {
 public:
  explicit PromptTokenizer(const Tokens& tokens);
  PromptTokenizer(const PromptTokenizer&) = delete;
  PromptTokenizer& operator=(const PromptTokenizer&) = delete;

  /// Gives the tokens that Tokens::tokenize() gives for the joined text, as long as no input spells a control token or
  /// a marker (a user-defined token such as <think> or [INST]); tokens that it spells stay plain text. The
  /// beginning-of-text token is added if the vocabulary wants it and the prompt does not begin with it. Polls `cancel`
  /// every 4 KiB. Throws as Tokens::tokenize() does.
  Prompt tokenize(std::span<const PromptPart> parts, const CancelToken* cancel = nullptr) const;

  /// The control tokens that template text may spell.
  struct Control {
    std::string text;
    Token token;
    bool strips_left;   // white space before it belongs to it
    bool strips_right;  // white space after it belongs to it
  };
  const std::vector<Control>& controls() const noexcept { return controls_.all; }
  /// User-defined tokens in brackets, which llama.cpp recognises in any text.
  const std::vector<Control>& markers() const noexcept { return markers_.all; }

 private:
  class Writer;
  /// Finds the longest of some spellings that a text begins with.
  struct Spellings {
    std::vector<Control> all;
    std::unordered_map<std::string_view, std::uint32_t, SeededHash> by_text;
    std::vector<std::size_t> lengths;  // falling
    std::array<bool, 256> begins{};    // first bytes

    void index();
    const Control* at(std::string_view text) const;
  };

  const Tokens& tokens_;
  Spellings controls_;
  Spellings markers_;
};

/// Returns the bytes and kinds of all tokens. Control tokens that occur in a tag are text, so that the text filter
/// and constraints see the tags.
std::shared_ptr<const TokenTable> read_token_table(const Tokens& tokens, const ThinkingTags& tags,
                                                   const CancelToken* cancel = nullptr);

/// Returns the forced tokens when thinking must end: a line feed, the end tag, two line feeds.
std::vector<Token> end_tag_tokens(const Tokens& tokens, const ThinkingTags& tags);

}  // namespace lorekeep::lm
