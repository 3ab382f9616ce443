// The forward pass: rows of tokens of several sequences in, logits of some of them out. A row's result depends on the
// tokens of its sequence only, bit for bit, however they were divided into steps and whatever else ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/values/buffer.h"
#include "decoder/attention.h"
#include "decoder/kernels.h"
#include "decoder/kv_cache.h"
#include "decoder/pieces.h"
#include "decoder/team.h"
#include "decoder/weights.h"
#include "quant/activations.h"

namespace lorekeep::decoder {

struct Row {
  std::int32_t token;
  std::size_t position;
  std::size_t sequence;
  bool output;
};

class Forward {
 public:
  /// A step has at most `most_rows` rows, and at most `most_outputs` of them have an output. Throws
  /// Error(kOutOfMemory).
  Forward(std::shared_ptr<const DecoderWeights> weights, KvCache& cache, Team& team, std::size_t most_rows,
          std::size_t most_outputs);

  /// Returns the bytes of the buffers of a step.
  static std::size_t bytes(const DecoderShape& shape, std::size_t most_rows, std::size_t most_outputs) noexcept;

  /// Computes the rows. The rows of a sequence follow each other, from the sequence's length in the cache on; the cache
  /// has been extended for them. The caller sets the new lengths. Returns false if the step became unwanted (see
  /// Team::begin()): then only cells beyond the lengths have changed.
  bool compute(std::span<const Row> rows);

  /// Returns the logits of a row of the last compute(), which had an output. Writable.
  std::span<float> logits(std::size_t row) noexcept;

 private:
  /// Buffers of rows x stride floats.
  struct Rows {
    Buffer<float> data;
    std::size_t stride = 0;

    void resize(std::size_t rows, std::size_t width);
    float* at(std::size_t row) noexcept { return data.data() + row * stride; }
  };
  /// A matrix and where its products go.
  struct Product {
    const quant::PackedMatrix* matrix;
    Rows* to;
  };

  void plan(std::span<const Row> rows);
  bool embed();
  bool attend(std::size_t index);
  void keep_outputs();
  bool feed_forward(std::size_t index);
  bool outputs();
  /// Adds the products of remainders, if inputs were `rounded`, and caps the logits.
  bool finish_logits(std::size_t count, bool rounded);
  void place(const LayerWeights& layer, std::size_t index, std::size_t row) noexcept;
  void rotate(float* head, const LayerWeights& layer, std::size_t row) noexcept;
  void add_residual(const std::vector<float>& post_norm, std::size_t row) noexcept;

  /// Calls body(row) for `count` rows: alone if they are few, else as tickets.
  template <class Body>
  bool each_row(std::size_t count, const Body& body);
  /// Multiplies the quantised inputs with matrices, at most kMaxProducts.
  bool multiply(std::size_t rows, std::span<const Product> products);
  void compute_piece(const Product& product, const Pieces::Piece& piece) noexcept;

  std::shared_ptr<const DecoderWeights> weights_;
  const DecoderShape& shape_;
  const DecoderKernels& kernels_;
  KvCache& cache_;
  Team& team_;
  Attention attention_;

  // State of the step.
  std::span<const Row> rows_;
  std::size_t active_ = 0;   // the first rows of the buffers: all, or those with an output
  std::vector<Part> parts_;  // of the active rows
  std::vector<std::size_t> output_rows_;
  std::vector<std::size_t> output_of_row_;

  Rows embeddings_;  // the residual stream
  Rows normed_;
  Rows query_;
  Rows key_;
  Rows value_;
  Rows attended_;
  Rows gate_;
  Rows up_;
  Rows added_;  // a block's addition to the residual stream
  Rows logits_;
  std::vector<Rows> cosines_;  // of each rotary
  std::vector<Rows> sines_;
  quant::Activations inputs_;  // of the next products
};

}  // namespace lorekeep::decoder
