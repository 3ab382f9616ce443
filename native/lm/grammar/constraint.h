// Rules that generated tokens obey. The sampler samples first and asks allows() for the one token; only if it is
// refused it applies mask() and samples again.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lm/grammar/grammar.h"
#include "lm/text/text_filter.h"
#include "lm/text/token_table.h"

namespace lorekeep::lm {

/// State of one generation. Not thread-safe. At least one token is always allowed.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  /// May refuse a token that mask() allows because no other is left.
  virtual bool allows(Token token) = 0;
  /// Sets the logits of refused tokens to minus infinity. Precondition: logits.size() == the vocabulary's size.
  virtual void mask(std::span<float> logits) = 0;
  /// Advances by a token. Precondition: allows(token), or the token ends generation.
  virtual void accept(Token token) = 0;
  /// Whether the reply may end here.
  virtual bool may_end() = 0;
};

/// Quotations: whatever the reply has between quotation marks is a span of one of the texts.
struct QuoteRule {
  /// Pairs of characters: the first opens a quotation, the second closes it. A reply uses one pair.
  std::string marks;
  /// Single quotation marks: characters that are apostrophes after a letter or a digit, and occur nowhere else.
  std::string apostrophes;
  std::vector<std::string> texts;
};

inline constexpr std::size_t kMaxQuotedBytes = std::size_t{1} << 20;  // of all texts

/// Throws Error(kInvalidArgument) for marks that are not pairs of characters, too many pairs, and too much text.
void check_quotes(const QuoteRule& rule);

/// White space after the end of thinking that is neither thinking nor reply.
inline constexpr std::uint32_t kMaxGapTokens = 8;

struct ReplyRules {
  /// Tags of a model that thinks; empty if it does not. The reply cannot end while it thinks.
  ThinkingTags thinking;
  bool starts_inside = false;
  /// Tokens of thinking after which the end tag is forced. Absent: unlimited. 0: it does not begin to think.
  std::optional<std::uint32_t> thinking_budget;
  std::vector<Token> end_tag;              // forced tokens: a line feed, the end tag and two line feeds
  std::shared_ptr<const Grammar> grammar;  // of the reply after thinking, or null
  std::optional<QuoteRule> quotes;         // in the reply after thinking; not together with a grammar
};

/// Returns how many of `tokens` may be thinking, so that `reply` of them and the tags are left.
std::uint32_t limit_thinking(std::optional<std::uint32_t> budget, std::uint32_t tokens, std::uint32_t reply,
                             std::size_t end_tag_tokens);

/// Returns null if there is nothing to constrain. Throws as check_quotes() does.
std::unique_ptr<TokenConstraint> constrain_reply(ReplyRules rules, std::shared_ptr<const TokenTable> tokens);

}  // namespace lorekeep::lm
