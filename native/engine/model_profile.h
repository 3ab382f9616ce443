// What a GGUF file's metadata says about an embedding model, checked so that llama.cpp cannot abort on it: everything
// that llama.cpp asserts about the architectures below is compared here first and refused with a sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/cancel_token.h"
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

/// Throws Error(kModelInvalid) for contradictions and for a decoder that says nothing about pooling when `pooling` is
/// not given either; Error(kUnsupported) for architectures, tokenizers and layouts that are not handled.
ModelProfile profile_model(const GgufFile& file, std::optional<Pooling> pooling);

/// 16 hexadecimal digits: XXH3-64 over the whole file and the pooling in effect. Files that differ in one byte, and
/// one file with two poolings, get different ones (chance of a collision 2^-64); name and place do not matter. Reads
/// the file once, at some GB/s when it is cached. `progress` (may be empty) is called with a fraction from 0 to 1.
/// Grain of cancellation and progress: 16 MiB.
std::string fingerprint_model(const GgufFile& file, Pooling pooling, const CancelToken* cancel,
                              const std::function<void(float)>& progress);

}  // namespace lorekeep::engine
