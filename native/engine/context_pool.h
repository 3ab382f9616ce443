// llama.cpp contexts of one model, made on demand and kept: a context owns the buffers of a computation and serves one
// batch at a time, on the calling thread alone. Several contexts side by side use several cores better than one context
// with several threads: small matrices spend their time at llama.cpp's spinning barriers, and beside a busy neighbour
// those collapse (a 16-token text: 6 ms on one thread; on two, 4.7 ms alone and 350 ms on a loaded machine).
// Internal to native/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/cancel_token.h"
#include "engine/pooling.h"
#include "llama.h"

namespace lorekeep::engine {

struct ModelFree {
  void operator()(llama_model* model) const noexcept { llama_model_free(model); }
};
using LlamaModel = std::unique_ptr<llama_model, ModelFree>;

struct ContextSettings {
  Pooling pooling;
  /// Most tokens of a batch of several texts.
  std::uint32_t batch_tokens;
  /// Tokens of an ordinary context, >= batch_tokens; longer texts get larger ones for as long as they are needed.
  std::uint32_t context_tokens;
  /// Longest text.
  std::uint32_t limit;
  /// Most texts of a batch.
  std::uint32_t sequences;
};

/// One text's tokens inside a batch, and where its vector goes.
struct Sequence {
  std::span<const llama_token> tokens;
  std::span<float> vector;
};

enum class ComputeStatus { kDone, kCancelled };

class EmbeddingContext {
 public:
  /// For batches of at most `capacity` tokens. Throws Error(kOutOfMemory) or Error(kModelInvalid).
  EmbeddingContext(llama_model& model, const ContextSettings& settings, std::uint32_t capacity);
  ~EmbeddingContext();
  EmbeddingContext(const EmbeddingContext&) = delete;
  EmbeddingContext& operator=(const EmbeddingContext&) = delete;

  std::uint32_t capacity() const noexcept { return capacity_; }

  /// Fills every sequence's vector with the pooled, not yet normalised embedding. Precondition: no sequence is empty,
  /// their tokens fit the capacity. Throws Error: kOutOfMemory, kModelInvalid, kInternal; the context is then to be
  /// destroyed. Grain of cancellation: one operation of the graph.
  ComputeStatus compute(std::span<const Sequence> sequences, const CancelToken* cancel);

 private:
  void fill_batch(std::span<const Sequence> sequences);

  llama_context* context_ = nullptr;
  std::uint32_t capacity_;
  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<std::int32_t> sequence_counts_;
  std::vector<llama_seq_id> sequence_ids_;
  std::vector<llama_seq_id*> sequence_pointers_;
  std::vector<std::int8_t> outputs_;
};

class ContextPool {
 public:
  ContextPool(llama_model& model, const ContextSettings& settings) : model_(model), settings_(settings) {}

  /// An idle context for at least `tokens` tokens, or a new one.
  std::unique_ptr<EmbeddingContext> take(std::uint32_t tokens);
  /// Keeps the context for the next take(). A context that failed is not given back but destroyed.
  void give_back(std::unique_ptr<EmbeddingContext> context);
  /// Frees idle contexts that are larger than ordinary ones.
  void trim();

 private:
  llama_model& model_;
  const ContextSettings settings_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<EmbeddingContext>> idle_;
};

}  // namespace lorekeep::engine
