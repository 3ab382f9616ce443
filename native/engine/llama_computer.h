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
#include "engine/step_bound.h"
#include "llama.h"

namespace lorekeep::engine {

/// The GPU of a model, which one computer uses at a time.
struct GpuUse {
  std::string device;
  std::atomic<bool> lost = false;  // it failed
  StepBound steps{};
};

class LlamaComputer : public BatchComputer {
 public:
  /// Supports batches of at most `capacity` tokens and `sequences` texts; `model` must outlive it. `gpu`: the model's,
  /// null for the CPU. Once `gpu->lost`, batches fail with Error(kDeviceLost). Throws Error(kOutOfMemory) or
  /// Error(kModelInvalid).
  LlamaComputer(llama_model& model, Pooling pooling, std::uint32_t sequences, std::uint32_t capacity,
                GpuUse* gpu = nullptr);
  LlamaComputer(const LlamaComputer&) = delete;
  LlamaComputer& operator=(const LlamaComputer&) = delete;

  std::uint32_t capacity() const noexcept override { return capacity_; }
  ComputeStatus compute(std::span<const Sequence> sequences, const CancelToken* cancel) override;

 private:
  ComputeStatus compute_batch(std::span<const Sequence> sequences, const CancelToken* cancel);
  static bool end_step(ggml_tensor* operation, bool ask, void* computer);
  [[noreturn]] void lose(const std::string& reason);

  LlamaContextHandle context_;
  std::uint32_t capacity_;
  GpuUse* gpu_;
  const CancelToken* cancel_ = nullptr;  // of the batch on the GPU
  bool stopped_ = false;                 // before the batch on the GPU ended
  LlamaRows rows_;
};

}  // namespace lorekeep::engine
