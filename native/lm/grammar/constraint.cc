#include "lm/grammar/constraint.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/values/error.h"
#include "lm/grammar/grammar_constraint.h"
#include "lm/grammar/quote_constraint.h"
#include "lm/grammar/thinking_constraint.h"

namespace lorekeep::lm {

std::uint32_t limit_thinking(std::optional<std::uint32_t> budget, std::uint32_t tokens, std::uint32_t reply,
                             std::size_t end_tag_tokens) {
  const std::uint64_t reserved = std::uint64_t{reply} + end_tag_tokens;
  const auto room = static_cast<std::uint32_t>(tokens > reserved ? tokens - reserved : 0);
  return std::min(budget.value_or(room), room);
}

bool is_between(const ThinkingTags& tags, std::string_view bytes) {
  return bytes.starts_with("<|") && tags.between.find(bytes) != std::string::npos;
}

std::vector<Token> tag_tokens(const ThinkingTags& tags, const TokenTable& tokens) {
  std::vector<Token> found;
  for (Token token = 0; token < static_cast<Token>(tokens.size()); ++token) {
    if (tokens.kind(token) != TokenKind::kText) continue;
    const auto ends_tag = [&](const std::string& tag) {
      return !tag.empty() && tokens.bytes(token).find(tag.back()) != std::string_view::npos;
    };
    if (ends_tag(tags.start) || ends_tag(tags.end) || is_between(tags, tokens.bytes(token))) found.push_back(token);
  }
  return found;
}

std::unique_ptr<TokenConstraint> constrain_reply(ReplyRules rules, std::shared_ptr<const TokenTable> tokens,
                                                 std::shared_ptr<MaskStore> store, const CancelToken* cancel) {
  if (rules.grammar && rules.quotes)
    fail(Code::kInvalidArgument, "quotes cannot be combined with a grammar or a schema");
  std::unique_ptr<TokenConstraint> reply;
  if (rules.grammar) {
    auto masks = store ? store->masks(rules.grammar) : std::make_shared<GrammarMasks>(rules.grammar, tokens);
    reply = std::make_unique<GrammarConstraint>(std::move(masks), std::move(store));
  } else if (rules.quotes) {
    reply = std::make_unique<QuoteConstraint>(QuoteMachine(*rules.quotes, cancel), tokens);
  }
  if (rules.thinking.end.empty() || (!rules.starts_inside && rules.thinking.start.empty())) return reply;
  if (!rules.tag_tokens)
    rules.tag_tokens = std::make_shared<const std::vector<Token>>(tag_tokens(rules.thinking, *tokens));
  return std::make_unique<ThinkingConstraint>(std::move(rules), std::move(tokens), std::move(reply));
}

}  // namespace lorekeep::lm
