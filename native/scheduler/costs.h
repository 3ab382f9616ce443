// Costs of one model's steps on this machine, learned from the steps that ran.
#pragma once

#include <array>
#include <cstdint>

#include "scheduler/prompt_cost.h"

namespace lorekeep::scheduler {

class Costs {
 public:
  /// Returns the time of a step that decodes `count` tokens, in ms; 0 before the first such step.
  double decode_ms(std::uint32_t count) const noexcept;
  /// Returns the time that tokens of prompts add to a step, in ms; 0 before the first such step.
  double prefill_ms(const PromptWork& work) const noexcept { return prompts_.ms(work); }
  /// Returns how many tokens, at most `limit`, can join `planned` at a position without exceeding `budget_ms` together.
  /// `limit` or kChunkFloor, the lesser, while nothing is known.
  std::uint32_t tokens_within(double budget_ms, const PromptWork& planned, std::uint32_t position,
                              std::uint32_t limit) const noexcept;

  /// Returns how much longer than expected a step with prompts may take, in ms: the most of the latest steps, which
  /// counts less with each later one.
  double surprise_ms() const noexcept { return surprise_ms_; }

  void learn(std::uint32_t decodes, const PromptWork& prompts, double took_ms) noexcept;

 private:
  // Entry i is about 2^i to 2^(i+1) - 1 tokens, in ms per step; 0: unknown.
  static constexpr std::size_t kBuckets = 21;

  std::array<double, kBuckets> decode_{};
  PromptCost prompts_;
  double surprise_ms_ = 0;
};

}  // namespace lorekeep::scheduler
