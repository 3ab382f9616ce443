// A constraint of tokens by quotations. Internal to native/lm.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "lm/grammar/constraint.h"
#include "lm/grammar/quote_machine.h"
#include "lm/grammar/token_check.h"
#include "lm/grammar/token_mask.h"
#include "lm/grammar/trie_walk.h"

namespace lorekeep::lm {

class QuoteConstraint : public TokenConstraint {
 public:
  QuoteConstraint(QuoteMachine machine, std::shared_ptr<const TokenTable> tokens);

  std::optional<bool> allows(Token token, Allowance& work) override;
  bool prepare(Allowance& work) override;
  void mask(std::span<float> logits) override;
  void accept(Token token) override;
  bool may_end() override { return machine_.may_end(state_); }

 private:
  using State = QuoteMachine::State;

  /// Masks of the latest states: outside of quotations a reply has few.
  static constexpr std::size_t kKept = 8;

  QuoteMachine machine_;
  std::shared_ptr<const TokenTable> tokens_;
  State state_;
  TokenCheck<QuoteMachine> check_;
  std::array<std::optional<std::pair<State, TokenMask>>, kKept> masks_;
  std::size_t oldest_ = 0;
  const TokenMask* mask_ = nullptr;  // of state_
  bool walking_ = false;
  TrieWalk<QuoteMachine> walk_;
  TokenBits bits_;
};

}  // namespace lorekeep::lm
