// A llama.cpp context that uses one thread, or a GPU. Internal to native/engine and native/lm.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/batch_computer.h"
#include "engine/llama_load.h"
#include "engine/llama_rows.h"
#include "engine/pooling.h"
#include "llama.h"

namespace lorekeep::engine {

class LlamaComputer : public BatchComputer {
 public:
  /// Supports batches of at most `capacity` tokens and `sequences` texts; `model` must outlive it. `gpu`: name of the
  /// model's device, empty for the CPU. While `leaving` is true, batches fail with Error(kDeviceLost). Throws
  /// Error(kOutOfMemory) or Error(kModelInvalid).
  LlamaComputer(llama_model& model, Pooling pooling, std::uint32_t sequences, std::uint32_t capacity,
                std::string gpu = {}, const std::atomic<bool>* leaving = nullptr);
  LlamaComputer(const LlamaComputer&) = delete;
  LlamaComputer& operator=(const LlamaComputer&) = delete;

  std::uint32_t capacity() const noexcept override { return capacity_; }
  ComputeStatus compute(std::span<const Sequence> sequences, const CancelToken* cancel) override;

 private:
  ComputeStatus compute_batch(std::span<const Sequence> sequences, const CancelToken* cancel);

  LlamaContextHandle context_;
  std::uint32_t capacity_;
  std::string gpu_;
  const std::atomic<bool>* leaving_;
  LlamaRows rows_;
};

}  // namespace lorekeep::engine
