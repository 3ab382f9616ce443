// The context of llama.cpp. Internal to native/lm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/llama_load.h"
#include "engine/llama_rows.h"
#include "llama.h"
#include "lm/model/generation_context.h"
#include "lm/model/thread_choice.h"

namespace lorekeep::lm {

/// Sequence ids of a context.
inline constexpr std::int32_t kAttentionSequences = 255;  // llama.cpp: LLAMA_MAX_SEQ, and one to save from
inline constexpr std::int32_t kRecurrentSequences = 16;   // each has a state of its own
// Each has cells of its own: which cells hold a sequence changes the order of sums, and so the last bits of logits.
inline constexpr std::int32_t kDeterministicSequences = 4;

/// Returns how to make the context of a model, except for threads and callbacks.
llama_context_params context_params(const LanguageModel& model);

class LlamaContext final : public GenerationContext {
 public:
  /// Precondition: llama.cpp has the model's weights. Throws as GenerationContext::make().
  explicit LlamaContext(std::shared_ptr<const LanguageModel> model);
  ~LlamaContext() override;

  static std::string state_name(const LanguageModel& model);

  const std::shared_ptr<const LanguageModel>& shared_model() const noexcept override { return model_; }
  std::int32_t sequences() const noexcept override { return sequences_; }
  std::uint32_t batch_size() const noexcept override { return batch_size_; }
  void use_threads(std::uint32_t threads, std::uint32_t batch_threads) noexcept override;
  std::uint32_t threads() const noexcept override;
  scheduler::ThreadReason thread_reason() const noexcept override;
  Status decode(std::span<const Row> rows, const std::function<bool()>& unwanted) override;
  std::span<float> logits(std::size_t row) override;
  bool remove(std::int32_t sequence, std::int32_t from) override;
  void share(std::int32_t from, std::int32_t to, std::int32_t tokens) override;
  std::vector<std::byte> save(std::int32_t sequence) override;
  bool restore(std::int32_t sequence, std::span<const std::byte> state, std::int32_t tokens) override;

 private:
  struct PoolFree {
    void operator()(ggml_threadpool* pool) const noexcept;
  };

  struct Abort;  // state of the abort callback

  void start_threads();
  std::int32_t id_of(std::int32_t sequence) const noexcept;
  bool chooses_threads() const noexcept;
  std::uint32_t choose_threads(std::size_t rows) noexcept;
  void set_threads(std::uint32_t threads) noexcept;
  double patience_ms(std::size_t rows, std::uint32_t threads) const noexcept;
  std::int32_t compute(const llama_batch& batch, const std::function<bool()>& unwanted, double patience_ms);
  std::int32_t decode_adaptively(const llama_batch& batch, const std::function<bool()>& unwanted);
  [[noreturn]] void lose_device(const std::string& reason) const;

  std::shared_ptr<const LanguageModel> model_;
  std::uint32_t batch_size_;
  std::int32_t sequences_;
  bool separate_;                 // each sequence has cells or a state of its own
  const Abort* abort_ = nullptr;  // during decode()
  // Destroyed in reverse: the context before the threads it computes on.
  std::unique_ptr<ggml_threadpool, PoolFree> threads_;
  engine::LlamaContextHandle context_;
  bool ready_ = false;  // constructed
  bool threads_started_ = false;
  std::uint32_t most_threads_ = 1;  // that start_threads() could start, this one included
  std::uint32_t decode_threads_;    // most of a step
  std::uint32_t batch_threads_;
  std::uint32_t used_threads_ = 1;  // of the last step
  scheduler::ThreadReason reason_ = scheduler::ThreadReason::kAll;
  ThreadChoice choice_;

  engine::LlamaRows rows_;
};

}  // namespace lorekeep::lm
