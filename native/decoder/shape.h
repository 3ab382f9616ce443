// The sizes and constants of a decoder: embeddings, then layers of attention and a gated feed-forward network with RMS
// norms before each, then logits.
#pragma once

#include <cstddef>
#include <vector>

namespace lorekeep::decoder {

enum class Activation { kSilu, kGelu };
/// Dimensions that rotate together: 2i and 2i + 1, or i and i + half.
enum class RotaryStyle { kPairs, kHalves };

/// Angles of rotary positions: position / divisors[i].
struct Rotary {
  std::vector<double> divisors;
};

struct DecoderShape {
  std::size_t layers;
  std::size_t width;  // of the embeddings
  std::size_t heads;
  std::size_t kv_heads;  // divides heads
  std::size_t head;      // dimensions of a head, even
  std::size_t hidden;    // of the feed-forward network
  std::size_t vocabulary;
  float epsilon;  // of the norms
  float attention_scale;
  float attention_softcap = 0;  // 0: none
  float logit_softcap = 0;
  float embedding_scale = 1;
  Activation activation = Activation::kSilu;
  RotaryStyle rotary_style = RotaryStyle::kPairs;
  std::vector<Rotary> rotaries;  // a layer names one

  std::size_t group() const noexcept { return heads / kv_heads; }
  std::size_t query_width() const noexcept { return heads * head; }
  std::size_t kv_width() const noexcept { return kv_heads * head; }
};

}  // namespace lorekeep::decoder
