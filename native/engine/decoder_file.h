// Reads the weights of a decoder from a GGUF file for native/decoder: models of decoder_architectures() as they usually
// are. Internal to native/engine and native/lm.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/work.h"
#include "decoder/weights.h"
#include "engine/gguf_file.h"

namespace lorekeep::engine {

/// The computation of a file by native/decoder.
struct DecoderPlan {
  decoder::DecoderShape shape;
  std::uint64_t weight_bytes = 0;  // of the packed matrices, about
  /// Why native/decoder cannot compute the file; empty: it can. Then llama.cpp computes or refuses it.
  std::string obstacle;
  /// Whether the obstacle is probably damage, such as a missing tensor.
  bool damaged = false;

  bool suited() const noexcept { return obstacle.empty(); }
};

/// Returns the values of general.architecture that native/decoder knows.
std::vector<std::string_view> decoder_architectures();

/// Checks the metadata, and the names, shapes and formats of all tensors, without reading weights. Any key of the
/// architecture or tensor that native/decoder does not know is an obstacle. Throws bad_alloc.
DecoderPlan plan_decoder(const GgufFile& file);

/// Packs the weights. Precondition: plan_decoder(file).suited(). Throws bad_alloc, and as `work.cancel`.
std::shared_ptr<const decoder::DecoderWeights> read_decoder(const GgufFile& file, const Work& work);

}  // namespace lorekeep::engine
