// The weights of a decoder, checked and packed. Immutable; shared by all that compute with them.
#pragma once

#include <cstddef>
#include <vector>

#include "decoder/shape.h"
#include "quant/packed_matrix.h"

namespace lorekeep::decoder {

struct LayerWeights {
  std::vector<float> attention_norm;
  quant::PackedMatrix query;
  quant::PackedMatrix key;
  quant::PackedMatrix value;
  // Empty vectors: the model has none.
  std::vector<float> query_bias;
  std::vector<float> key_bias;
  std::vector<float> value_bias;
  std::vector<float> query_norm;  // of each head
  std::vector<float> key_norm;
  quant::PackedMatrix output;
  std::vector<float> post_attention_norm;
  std::vector<float> feed_forward_norm;
  quant::PackedMatrix gate;
  quant::PackedMatrix up;
  quant::PackedMatrix down;
  std::vector<float> post_feed_forward_norm;
  std::size_t window = 0;  // maximum number of tokens that a token sees, itself included; 0: all
  std::size_t rotary = 0;  // of DecoderShape::rotaries
};

struct DecoderWeights {
  DecoderShape shape;
  quant::PackedMatrix embeddings;
  std::vector<LayerWeights> layers;
  std::vector<float> output_norm;
  quant::PackedMatrix output;  // no outputs: the embeddings

  const quant::PackedMatrix& logits() const noexcept { return output.outputs() == 0 ? embeddings : output; }
  /// Memory of the matrices.
  std::size_t bytes() const noexcept;
};

}  // namespace lorekeep::decoder
