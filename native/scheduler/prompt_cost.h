// The time that tokens of prompts add to a model's steps on this machine, learned from the steps that ran. It grows
// with the number of tokens and, because of attention, with their depth in the context.
#pragma once

#include <cstdint>

namespace lorekeep::scheduler {

/// A measurement counts at most as this multiple of the expected time, because the machine may have been busy.
inline constexpr double kOutlier = 3;

/// Tokens of prompts in one step.
struct PromptWork {
  double tokens = 0;
  /// The sum of their positions.
  double depth = 0;

  /// Adds a chunk that begins at a position.
  void add(std::uint32_t count, std::uint32_t position) noexcept;
};

class PromptCost {
 public:
  /// Returns a time in ms; 0 before the first learn().
  double ms(const PromptWork& work) const noexcept;
  bool known() const noexcept { return token_ms_ > 0 || depth_ms_ > 0; }
  /// Returns how many tokens, at most `limit`, can join `planned` at a position without exceeding `budget_ms` together.
  /// Precondition: known().
  std::uint32_t tokens_within(double budget_ms, const PromptWork& planned, std::uint32_t position,
                              std::uint32_t limit) const noexcept;
  /// Preconditions: at least one token, and a positive time.
  void learn(const PromptWork& work, double took_ms) noexcept;

 private:
  void fit(double tokens, double depth) noexcept;

  /// Sums of a least-squares fit of took = token_ms * tokens + depth_ms * depth. Each step counts by its relative
  /// error, and less with every later one.
  struct Sums {
    double tokens_tokens = 0;
    double tokens_depth = 0;
    double depth_depth = 0;
    double tokens = 0;
    double depth = 0;
  };
  Sums sums_;
  double token_ms_ = 0;
  double depth_ms_ = 0;
  /// Time of the last steps, as a factor of the fit: a machine that becomes busy slows down chunks of all sizes.
  double drift_ = 1;
};

}  // namespace lorekeep::scheduler
