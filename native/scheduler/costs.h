// Costs of one model's steps on this machine, learned from the steps that ran.
#pragma once

#include <array>
#include <cstdint>

namespace lorekeep::scheduler {

class Costs {
 public:
  /// Returns the time of a step that decodes `count` tokens, in ms; 0 before the first such step.
  double decode_ms(std::uint32_t count) const noexcept;
  /// Returns the time that `tokens` of prompts add to a step, in ms; 0 before the first such step.
  double prefill_ms(std::uint32_t tokens) const noexcept;
  /// Returns how many tokens, at most `limit`, can join `planned` prompt tokens without exceeding `budget_ms` together.
  /// `limit` or kChunkFloor, the lesser, while nothing is known.
  std::uint32_t tokens_within(double budget_ms, std::uint32_t planned, std::uint32_t limit) const noexcept;

  void learn(std::uint32_t decodes, std::uint32_t prefill_tokens, double took_ms) noexcept;

 private:
  // Entry i is about 2^i to 2^(i+1) - 1 tokens; 0: unknown. Decoding: ms per step. Prompts: ms per token.
  static constexpr std::size_t kBuckets = 21;
  using Table = std::array<double, kBuckets>;

  double per_token(std::size_t bucket) const noexcept;

  Table decode_{};
  Table prefill_{};  // before drift_
  /// Factor of all costs of prompts. A token deep in a context takes longer, in chunks of any size, so a chunk that
  /// took longer than expected says the same of chunks that have not run since the context was short.
  double drift_ = 1;
};

}  // namespace lorekeep::scheduler
