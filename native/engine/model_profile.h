// The metadata of an embedding model or a reranker in a GGUF file. Everything that llama.cpp asserts about the
// supported architectures is checked here first, so that llama.cpp cannot abort the process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/threads/cancel_token.h"
#include "engine/gguf_file.h"
#include "engine/pooling.h"

namespace lorekeep::engine {

struct ModelProfile {
  std::string name;          // general.name, else the file's name without its extension
  std::string architecture;  // general.architecture
  std::uint32_t dimension;
  std::uint32_t training_context;  // tokens
  Pooling pooling;
  std::uint64_t parameters;
};

/// Throws Error(kModelInvalid) for inconsistent metadata and for a decoder without a pooling type if `pooling` is not
/// given; Error(kUnsupported) for unsupported architectures, tokenizers and layouts.
ModelProfile profile_model(const GgufFile& file, std::optional<Pooling> pooling);

/// The same for a model that scores pairs of texts: its architecture has a classification head in llama.cpp, and the
/// file has its weights. The pooling is kRank.
ModelProfile profile_reranker(const GgufFile& file);

/// Returns 16 hexadecimal digits: XXH3-64 over the whole file, or all parts in order, and the pooling in effect (chance
/// of a collision 2^-64). Independent of the file's path. Reads the file once, at some GB/s if it is cached. `progress`
/// (may be empty) receives a fraction from 0 to 1. Grain of cancellation and progress: 16 MiB.
std::string fingerprint_model(const GgufFile& file, Pooling pooling, const CancelToken* cancel,
                              const std::function<void(float)>& progress);

}  // namespace lorekeep::engine
