// Decides how many drafted tokens a step verifies. A step of several rows takes longer than one of one row, so drafts
// pay only if enough of them are accepted. Both are learned from the steps that ran. Pure.
#pragma once

#include <array>
#include <cstddef>

#include "lm/sampling/prompt_lookup.h"

namespace lorekeep::lm {

/// Maximum number of tokens that a step verifies.
inline constexpr std::size_t kMaxDrafts = 15;

class DraftPolicy {
 public:
  DraftPolicy();

  /// Returns how many of `available` tokens after a match of `matched` tokens a step should verify; 0 unless the
  /// expected gain is more than kMinGain.
  std::size_t length(std::size_t matched, std::size_t available) noexcept;
  /// Records a step that decoded `rows` rows of one request, and nothing else.
  void learn_step(std::size_t rows, double took_ms) noexcept;
  /// Records that the first `accepted` of `drafted` tokens after a match of `matched` tokens were right.
  void learn_drafts(std::size_t matched, std::size_t drafted, std::size_t accepted) noexcept;

  /// Expected tokens per step of `rows` rows, by its time, against steps of one row.
  double gain(std::size_t matched, std::size_t rows) const noexcept;

  static constexpr double kMinGain = 1.05;

 private:
  struct Acceptance {
    double accepted;
    double tested;

    double rate() const noexcept { return accepted / tested; }
  };

  double cost(std::size_t rows) const noexcept;
  void forget() noexcept;

  double one_row_ms_ = 0;  // 0: unknown
  // Time of steps of 2, 3, ... rows as multiples of a one-row step; 0: unknown.
  std::array<double, kMaxDrafts + 2> costs_{};
  std::array<Acceptance, kLongestMatch + 1> acceptance_;
};

}  // namespace lorekeep::lm
