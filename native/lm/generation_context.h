// A llama.cpp context with the KV cache of one model. decode() runs on the inference thread only. Internal to
// native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "llama.h"
#include "lm/language_model.h"
#include "lm/token.h"

namespace lorekeep::lm {

/// Sequence ids of a context.
inline constexpr std::int32_t kAttentionSequences = 256;  // llama.cpp: LLAMA_MAX_SEQ
inline constexpr std::int32_t kRecurrentSequences = 16;   // each has a state of its own
// Each has cells of its own: which cells hold a sequence changes the order of sums, and so the last bits of logits.
inline constexpr std::int32_t kDeterministicSequences = 4;

/// Returns how to make the context of a model, except for threads and callbacks.
llama_context_params context_params(const LanguageModel& model);
/// Names everything that the state of a sequence depends on besides the model file.
std::string runtime_name(const LanguageModel& model);

class GenerationContext {
 public:
  /// Most rows with outputs in a step. llama.cpp reserves memory for each (a row of the vocabulary).
  static constexpr std::uint32_t kMostOutputs = 32;

  struct Row {
    Token token;
    std::int32_t position;
    std::int32_t sequence;
    bool output;
  };
  enum class Status {
    kDone,
    kNoCells,  // nothing changed
    kAborted,  // nothing changed, except that recurrent states are lost
  };

  /// Allocates the cache and computes a probe on the calling thread. Throws Error(kOutOfMemory), Error(kModelInvalid).
  explicit GenerationContext(std::shared_ptr<const LanguageModel> model);
  ~GenerationContext();
  GenerationContext(const GenerationContext&) = delete;
  GenerationContext& operator=(const GenerationContext&) = delete;

  const std::shared_ptr<const LanguageModel>& shared_model() const noexcept { return model_; }
  std::int32_t sequences() const noexcept { return sequences_; }
  std::uint32_t batch_size() const noexcept { return batch_size_; }

  /// Computes the rows, at most batch_size(), at most kMostOutputs with an output. `unwanted` (may be empty) is asked
  /// after each operation on the CPU whether to abort. Throws Error if llama.cpp fails: the context is then unusable.
  Status decode(std::span<const Row> rows, const std::function<bool()>& unwanted = {});

  /// Returns the logits of a row of the last decode(), which had an output. Writable; valid until the next decode().
  std::span<float> logits(std::size_t row);

  /// Frees the cells of a sequence from a position on. Returns false if the memory cannot forget only a part; then
  /// nothing changed.
  bool remove(std::int32_t sequence, std::int32_t from);
  /// Shares the first `tokens` cells of a sequence with another, empty one.
  /// -1: all.
  void share(std::int32_t from, std::int32_t to, std::int32_t tokens);

  /// Returns the state of a sequence, to be restored by a context of the same model and options.
  std::vector<std::byte> save(std::int32_t sequence);
  /// Restores a state into an empty sequence. Returns false, with the sequence empty, if it is not such a state or
  /// there is no room.
  bool restore(std::int32_t sequence, std::span<const std::byte> state, std::int32_t tokens);

 private:
  struct ContextFree {
    void operator()(llama_context* context) const noexcept { llama_free(context); }
  };
  struct PoolFree {
    void operator()(ggml_threadpool* pool) const noexcept;
  };

  void probe();
  void start_threads();

  std::shared_ptr<const LanguageModel> model_;
  std::uint32_t batch_size_;
  std::int32_t sequences_;
  const std::function<bool()>* unwanted_ = nullptr;  // during decode()
  // Destroyed in reverse: the context before the threads it computes on.
  std::unique_ptr<ggml_threadpool, PoolFree> threads_;
  std::unique_ptr<llama_context, ContextFree> context_;
  bool threads_started_ = false;

  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<std::int32_t> sequence_counts_;
  std::vector<llama_seq_id> sequence_ids_;
  std::vector<llama_seq_id*> sequence_pointers_;
  std::vector<std::int8_t> outputs_;
};

}  // namespace lorekeep::lm
