#include "lm/grammar/constraint.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/values/error.h"
#include "lm/grammar/byte_constraint.h"
#include "lm/grammar/grammar_machine.h"
#include "lm/grammar/quote_machine.h"
#include "lm/grammar/thinking_constraint.h"

namespace lorekeep::lm {

std::uint32_t limit_thinking(std::optional<std::uint32_t> budget, std::uint32_t tokens, std::uint32_t reply,
                             std::size_t end_tag_tokens) {
  const std::uint64_t reserved = std::uint64_t{reply} + end_tag_tokens;
  const auto room = static_cast<std::uint32_t>(tokens > reserved ? tokens - reserved : 0);
  return std::min(budget.value_or(room), room);
}

std::unique_ptr<TokenConstraint> constrain_reply(ReplyRules rules, std::shared_ptr<const TokenTable> tokens) {
  if (rules.grammar && rules.quotes)
    fail(Code::kInvalidArgument, "quotes cannot be combined with a grammar or a schema");
  std::unique_ptr<TokenConstraint> reply;
  if (rules.grammar) {
    reply = std::make_unique<ByteConstraint<GrammarMachine>>(GrammarMachine(rules.grammar), tokens);
  } else if (rules.quotes) {
    reply = std::make_unique<ByteConstraint<QuoteMachine>>(QuoteMachine(*rules.quotes), tokens);
  }
  if (rules.thinking.end.empty() || (!rules.starts_inside && rules.thinking.start.empty())) return reply;
  return std::make_unique<ThinkingConstraint>(std::move(rules), std::move(tokens), std::move(reply));
}

}  // namespace lorekeep::lm
