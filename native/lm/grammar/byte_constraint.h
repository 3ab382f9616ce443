// A constraint of tokens from a machine that reads bytes. Internal to native/lm.
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lm/grammar/constraint.h"

namespace lorekeep::lm {

inline constexpr float kRefused = -std::numeric_limits<float>::infinity();

/// `Machine` has State, start(), step(from, byte, to), may_end(state), and possibly compact(live states) and
/// begin_token().
template <class Machine>
class ByteConstraint : public TokenConstraint {
 public:
  ByteConstraint(Machine machine, std::shared_ptr<const TokenTable> tokens)
      : machine_(std::move(machine)), tokens_(std::move(tokens)), state_(machine_.start()) {}

  bool allows(Token token) override {
    switch (tokens_->kind(token)) {
      case TokenKind::kEnd: return may_end();
      case TokenKind::kControl: return false;
      case TokenKind::kText: break;
    }
    State state = state_;
    return advance(token, state);
  }

  void mask(std::span<float> logits) override {
    allowed_.assign(logits.size(), false);
    const std::span<const TokenTable::Node> trie = tokens_->trie();
    way_.assign(1, state_);
    for (std::size_t i = 0; i < trie.size();) {
      const TokenTable::Node& node = trie[i];
      way_.resize(node.depth + std::size_t{1});
      if (!machine_.step(way_[node.depth - std::size_t{1}], node.byte, way_[node.depth])) {
        i = node.past;
        continue;
      }
      for (const Token token : tokens_->tokens_at(i)) allowed_[static_cast<std::size_t>(token)] = true;
      ++i;
      compact();
    }
    state_ = way_[0];
    if (may_end()) {
      for (const Token token : tokens_->ends()) allowed_[static_cast<std::size_t>(token)] = true;
    }
    for (std::size_t token = 0; token < logits.size(); ++token) {
      if (!allowed_[token]) logits[token] = kRefused;
    }
  }

  void accept(Token token) override {
    begin_token();
    if (tokens_->kind(token) == TokenKind::kText) advance(token, state_);
    way_.assign(1, state_);
    compact();
    state_ = way_[0];
  }

  bool may_end() override { return machine_.may_end(state_); }

 private:
  using State = typename Machine::State;

  bool advance(Token token, State& state) {
    const std::string_view bytes = tokens_->bytes(token);
    if (bytes.empty() || bytes.size() > kMaxTokenBytes) return false;
    State next = state;
    for (const char byte : bytes) {
      State after;
      if (!machine_.step(next, static_cast<std::uint8_t>(byte), after)) return false;
      next = std::move(after);
    }
    state = std::move(next);
    return true;
  }

  void compact() {
    if constexpr (requires { machine_.compact(std::span<State>(way_)); }) machine_.compact(way_);
  }

  void begin_token() {
    if constexpr (requires { machine_.begin_token(); }) machine_.begin_token();
  }

  Machine machine_;
  std::shared_ptr<const TokenTable> tokens_;
  State state_;
  std::vector<State> way_;  // the states along the bytes of a token, the current one first
  std::vector<bool> allowed_;
};

}  // namespace lorekeep::lm
