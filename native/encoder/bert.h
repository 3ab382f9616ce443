// The forward pass of BERT (Devlin, Chang, Lee, Toutanova 2018) for embedding: post-norm layers, the tanh form of GELU.
// llama.cpp is the reference for its results, and computes every other architecture.
//
// Differences from llama.cpp: a text attends only to itself, so a batch costs the sum of the squares of its texts'
// lengths, not the square of their sum. Weights are packed once for the kernels. A batch runs on the calling thread
// without a barrier, a graph or an allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/buffer.h"
#include "encoder/kernels.h"
#include "encoder/linear.h"

namespace lorekeep::encoder {

struct BertShape {
  std::size_t dimension;
  std::size_t heads;
  std::size_t kv_heads;  // divides heads
  std::size_t feed_forward;
  std::size_t context;  // tokens
  float epsilon;        // of the norms

  std::size_t head_size() const noexcept { return dimension / heads; }
  std::size_t kv_width() const noexcept { return kv_heads * head_size(); }
  /// Returns whether the kernels support these sizes: whole panels only.
  bool fits() const noexcept {
    return dimension % heads == 0 && heads % kv_heads == 0 && head_size() % kLanes == 0 && feed_forward % kLanes == 0;
  }
};

struct Norm {
  std::vector<float> weight;
  std::vector<float> bias;
};

struct BertLayer {
  Linear qkv;  // queries, keys, values: dimension + 2 kv_width outputs
  Linear attention_output;
  Norm attention_norm;
  Linear up;
  Linear down;
  Norm output_norm;
};

/// The weights of a model. Immutable, shared by all threads.
struct BertWeights {
  BertShape shape;  // fits()
  /// Writes the embedding of a token, `dimension` values. Thread-safe. Precondition: the token is in range. May throw
  /// Error(kCorrupt).
  std::function<void(std::int32_t token, float* row)> token_row;
  /// Embeddings of position plus token type 0: context x dimension.
  std::vector<float> positions;
  Norm embedding_norm;
  std::vector<BertLayer> layers;
};

/// The rows of a text's last layer that become its vector: their mean, the first or the last.
enum class Rows { kMean, kFirst, kLast };

struct BertText {
  std::span<const std::int32_t> tokens;  // 1 to context
  std::span<float> vector;               // `dimension` values, not normalised
};

/// The buffers of one thread.
class BertRun {
 public:
  BertRun(const BertWeights& weights, const EncoderKernels& kernels) : weights_(weights), kernels_(kernels) {}

  /// Fills the vector of every text. Returns false if cancelled; the vectors are then undefined. A text's vector does
  /// not depend on the others. Grain of cancellation: half a layer. Throws Error(kOutOfMemory), and as token_row.
  bool compute(std::span<const BertText> texts, Rows rows, const CancelToken* cancel);

 private:
  void embed(std::span<const BertText> texts);
  void attend(std::span<const BertText> texts);
  void attend_head(std::size_t begin, std::size_t tokens, std::size_t head);
  void feed_forward(const BertLayer& layer);
  void normalize(const Norm& norm);
  void pool(std::span<const BertText> texts, Rows rows) const;

  const BertWeights& weights_;
  const EncoderKernels& kernels_;
  std::size_t tokens_ = 0;  // of the batch
  Buffer<float> x_;         // tokens x dimension: the residual stream
  Buffer<float> qkv_;
  Buffer<float> attended_;
  Buffer<float> hidden_;
  Buffer<float> keys_;    // of one head, in panels
  Buffer<float> scores_;  // of some queries of one head
  Buffer<std::byte> rounded_;
};

}  // namespace lorekeep::encoder
