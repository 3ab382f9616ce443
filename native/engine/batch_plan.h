// Groups texts into batches. Attention over a packed batch costs the square of its tokens, so batches are limited by
// tokens; the number of texts only has an upper bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lorekeep::engine {

struct BatchLimits {
  /// Maximum number of tokens of a batch of several texts. A text with more tokens gets its own batch.
  std::uint32_t tokens;
  /// Maximum number of texts of a batch, at least 1.
  std::uint32_t sequences;
  /// Threads that compute batches. A job with too few tokens for a full batch per thread is cut into smaller batches.
  std::size_t workers;
};

struct Batch {
  /// Positions in the given list, longest text first.
  std::vector<std::uint32_t> items;
  std::uint32_t tokens = 0;
};

/// Puts every position with a token count above 0 into exactly one batch; skips zeros (failed texts). Batches with the
/// longest texts come first, so that the last ones finish quickly. Deterministic.
std::vector<Batch> plan_batches(std::span<const std::uint32_t> token_counts, const BatchLimits& limits);

}  // namespace lorekeep::engine
