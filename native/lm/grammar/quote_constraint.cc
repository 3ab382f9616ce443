#include "lm/grammar/quote_constraint.h"

namespace lorekeep::lm {

QuoteConstraint::QuoteConstraint(QuoteMachine machine, std::shared_ptr<const TokenTable> tokens)
    : machine_(std::move(machine)), tokens_(std::move(tokens)), state_(machine_.start()) {}

std::optional<bool> QuoteConstraint::allows(Token token, Allowance& work) {
  switch (tokens_->kind(token)) {
    case TokenKind::kEnd: return may_end();
    case TokenKind::kControl: return false;
    case TokenKind::kText: break;
  }
  return check_.run(machine_, *tokens_, token, state_, work);
}

bool QuoteConstraint::prepare(Allowance& work) {
  if (mask_ != nullptr) return true;
  if (!walking_) {
    for (const auto& known : masks_) {
      if (known && known->first == state_) mask_ = &known->second;
    }
    if (mask_ != nullptr) return true;
    walking_ = true;
    bits_.clear(tokens_->size());
    walk_.begin(state_, 0, tokens_->trie().size());
  }
  const bool ended = walk_.run(machine_, *tokens_, work,
                               [this](std::size_t node, const State&) { bits_.add(tokens_->tokens_at(node)); });
  if (!ended) return false;
  walking_ = false;
  auto& place = masks_[oldest_];
  oldest_ = (oldest_ + 1) % kKept;
  place.emplace(state_, TokenMask(bits_));
  mask_ = &place->second;
  return true;
}

void QuoteConstraint::mask(std::span<float> logits) {
  mask_->apply(logits, may_end() ? tokens_->ends() : std::span<const Token>());
}

void QuoteConstraint::accept(Token token) {
  if (tokens_->kind(token) == TokenKind::kText) {
    Allowance work;
    check_.run(machine_, *tokens_, token, state_, work);
    if (const State* const after = check_.after(token, *tokens_)) state_ = *after;
  }
  check_.reset();
  mask_ = nullptr;
  walking_ = false;
}

}  // namespace lorekeep::lm
