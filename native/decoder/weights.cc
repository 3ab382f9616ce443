#include "decoder/weights.h"

namespace lorekeep::decoder {

std::size_t DecoderWeights::bytes() const noexcept {
  std::size_t total = embeddings.bytes() + output.bytes();
  for (const LayerWeights& layer : layers) {
    for (const auto* matrix :
         {&layer.query, &layer.key, &layer.value, &layer.output, &layer.gate, &layer.up, &layer.down})
      total += matrix->bytes();
  }
  return total;
}

}  // namespace lorekeep::decoder
