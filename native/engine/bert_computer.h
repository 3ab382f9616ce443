// Implements BatchComputer with native/encoder. Internal to native/engine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "encoder/bert.h"
#include "engine/batch_computer.h"
#include "engine/pooling.h"

namespace lorekeep::engine {

class BertComputer : public BatchComputer {
 public:
  BertComputer(std::shared_ptr<const encoder::BertWeights> weights, const encoder::EncoderKernels& kernels,
               Pooling pooling, std::uint32_t capacity)
      : weights_(std::move(weights)), run_(*weights_, kernels), pooling_(pooling), capacity_(capacity) {}

  std::uint32_t capacity() const noexcept override { return capacity_; }
  ComputeStatus compute(std::span<const Sequence> sequences, const CancelToken* cancel) override;

 private:
  std::shared_ptr<const encoder::BertWeights> weights_;
  encoder::BertRun run_;
  Pooling pooling_;
  std::uint32_t capacity_;
  std::vector<encoder::BertText> texts_;
};

}  // namespace lorekeep::engine
