// Which texts share a batch. Attention over a packed batch costs the square of the batch's tokens, so batches are cut
// by their tokens; the number of texts only has an upper bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lorekeep::engine {

struct BatchLimits {
  /// Most tokens of a batch of more than one text. A single text may have more: it gets a batch of its own.
  std::uint32_t tokens;
  /// Most texts of a batch, at least 1.
  std::uint32_t sequences;
  /// Threads that will take batches; a job too small to give each a full batch is cut into smaller ones.
  std::size_t workers;
};

struct Batch {
  /// Positions in the given list, longest text first.
  std::vector<std::uint32_t> items;
  std::uint32_t tokens = 0;
};

/// Every position with a token count above 0 is in exactly one batch; zeros (texts that failed) are in none. Batches
/// come longest texts first, so that the last ones to finish are short. Deterministic.
std::vector<Batch> plan_batches(std::span<const std::uint32_t> token_counts, const BatchLimits& limits);

}  // namespace lorekeep::engine
