#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorekeep::engine {

/// The runtime that computes every model.
inline constexpr std::string_view kLlamaRuntime = "llama.cpp";

/// How a model is computed on a machine. What is best depends on the processor and on the model, so it is measured.
struct ComputeSettings {
  /// kLlamaRuntime, or the name of an encoder::Kernels set: native/encoder, for BERT models.
  std::string runtime;
  /// Most tokens of a batch of several texts.
  std::uint32_t batch_tokens = 0;
};

/// Settings that were measured before, for the model of this fingerprint on this machine, among these runtimes: with
/// others to choose from, another may be the best.
struct KnownSettings {
  std::string fingerprint;
  std::vector<std::string> candidates;
  ComputeSettings settings;
};

}  // namespace lorekeep::engine
