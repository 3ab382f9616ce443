#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorekeep::engine {

/// The runtime that can compute every model.
inline constexpr std::string_view kLlamaRuntime = "llama.cpp";

/// How a model is computed on a machine. The best settings depend on processor and model, so they are measured.
struct ComputeSettings {
  /// kLlamaRuntime, or the name of an encoder::EncoderKernels set: native/encoder, for BERT models.
  std::string runtime;
  /// Maximum number of tokens of a batch of several texts.
  std::uint32_t batch_tokens = 0;
};

/// Settings measured earlier for the model with this fingerprint on this machine, valid for the same candidates only.
struct KnownSettings {
  std::string fingerprint;
  std::vector<std::string> candidates;
  ComputeSettings settings;
};

}  // namespace lorekeep::engine
