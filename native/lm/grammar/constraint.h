// Rules that generated tokens obey. The sampler samples first and asks allows() for the one token; only if it is
// refused it applies mask() and samples again. Both can take long, and are done in parts.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/threads/cancel_token.h"
#include "lm/grammar/allowance.h"
#include "lm/grammar/grammar.h"
#include "lm/text/text_filter.h"
#include "lm/text/token_table.h"

namespace lorekeep::lm {

/// State of one generation. Not thread-safe. At least one token is always allowed.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  /// Whether a token is allowed; absent: no work is left, and the next call for this token continues. May refuse a
  /// token that mask() allows because no other is left.
  virtual std::optional<bool> allows(Token token, Allowance& work) = 0;
  /// Computes the mask of the next token. Returns false if no work is left: the next call continues.
  virtual bool prepare(Allowance& work) = 0;
  /// Sets the logits of refused tokens to minus infinity. Preconditions: prepare() returned true since the last
  /// accept(), and logits.size() is the vocabulary's size.
  virtual void mask(std::span<float> logits) = 0;
  /// Advances by a token. Precondition: it is allowed, or ends generation. Takes constant time after an allows() that
  /// said so.
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
  std::vector<Token> end_tag;  // forced tokens (end_tag_tokens())
  /// Tokens with the last byte of a tag of thinking (tag_tokens()). Null: it is computed.
  std::shared_ptr<const std::vector<Token>> tag_tokens;
  std::shared_ptr<const Grammar> grammar;  // of the reply after thinking, or null
  std::optional<QuoteRule> quotes;         // in the reply after thinking; not together with a grammar
};

/// Returns how many of `tokens` may be thinking, so that `reply` of them and the tags are left.
std::uint32_t limit_thinking(std::optional<std::uint32_t> budget, std::uint32_t tokens, std::uint32_t reply,
                             std::size_t end_tag_tokens);

/// Whether a token is a control token between two messages of a reply with channels.
bool is_between(const ThinkingTags& tags, std::string_view bytes);

/// Returns the text tokens that contain the last byte of one of the tags, and those between messages.
std::vector<Token> tag_tokens(const ThinkingTags& tags, const TokenTable& tokens);

class MaskStore;

/// Returns null if there is nothing to constrain. Throws as check_quotes() does, and Error(kCancelled). Requests with
/// the same `store` share the masks of their grammars; they must run on one thread. Null: the request has its own.
std::unique_ptr<TokenConstraint> constrain_reply(ReplyRules rules, std::shared_ptr<const TokenTable> tokens,
                                                 std::shared_ptr<MaskStore> store = nullptr,
                                                 const CancelToken* cancel = nullptr);

}  // namespace lorekeep::lm
