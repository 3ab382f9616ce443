// Reads the bytes of one token with a machine, in parts. Internal to native/lm.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "lm/grammar/allowance.h"
#include "lm/text/token_table.h"

namespace lorekeep::lm {

template <class Machine>
class TokenCheck {
 public:
  using State = typename Machine::State;

  /// Reads a token from a state on. Absent: no work is left, and the next call with the same arguments continues.
  std::optional<bool> run(Machine& machine, const TokenTable& tokens, Token token, const State& from, Allowance& work) {
    const std::string_view bytes = tokens.bytes(token);
    if (token_ != token) {
      token_ = token;
      read_ = 0;
      state_ = from;
      refused_ = bytes.empty() || bytes.size() > kMaxTokenBytes;
    }
    while (!refused_ && read_ < bytes.size()) {
      if (work.over()) return std::nullopt;
      work.spend(1);
      State to;
      refused_ = !machine.step(state_, static_cast<std::uint8_t>(bytes[read_]), to, work);
      if (refused_) break;
      state_ = std::move(to);
      ++read_;
    }
    return !refused_;
  }

  /// The state after the token, if it was read to its end and allowed. Valid until reset().
  const State* after(Token token, const TokenTable& tokens) const noexcept {
    return token_ == token && !refused_ && read_ == tokens.bytes(token).size() ? &state_ : nullptr;
  }
  void reset() noexcept { token_ = kNone; }
  /// The state that was reached; null: none.
  State* state() noexcept { return token_ == kNone ? nullptr : &state_; }

 private:
  static constexpr Token kNone = -1;

  Token token_ = kNone;
  std::size_t read_ = 0;
  bool refused_ = false;
  State state_{};
};

}  // namespace lorekeep::lm
