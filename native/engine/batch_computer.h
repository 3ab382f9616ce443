// Interface for computing the vectors of a batch of token sequences. Internal to native/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/threads/cancel_token.h"

namespace lorekeep::engine {

/// One text's tokens inside a batch, and its output vector.
struct Sequence {
  std::span<const std::int32_t> tokens;
  std::span<float> vector;
};

enum class ComputeStatus { kDone, kCancelled };

/// Owns the buffers of a computation. Computes one batch at a time, on the calling thread.
class BatchComputer {
 public:
  virtual ~BatchComputer() = default;

  /// Maximum number of tokens of a batch.
  virtual std::uint32_t capacity() const noexcept = 0;

  /// Fills every sequence's vector with the pooled, not normalised embedding. Precondition: no sequence is empty, and
  /// their tokens fit the capacity. Throws Error: kOutOfMemory, kModelInvalid, kInternal; then destroy the computer.
  /// `cancel` may be null; its grain is one operation of the graph, on a GPU one step.
  virtual ComputeStatus compute(std::span<const Sequence> sequences, const CancelToken* cancel) = 0;
};

}  // namespace lorekeep::engine
