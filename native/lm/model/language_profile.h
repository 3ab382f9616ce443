// The metadata of a language model in a GGUF file. Values that llama.cpp divides by, or uses as sizes without a check,
// are checked here first.
#pragma once

#include <cstdint>
#include <string>

#include "engine/gguf_file.h"

namespace lorekeep::lm {

/// How a model remembers the tokens before the current one.
enum class Memory {
  kAttention,  // one cell per token; any prefix of a sequence can be kept or shared
  kRecurrent,  // a state per sequence (or both): only whole sequences can be continued
};

struct LanguageProfile {
  std::string name;          // general.name, else the file's name without its extension
  std::string architecture;  // general.architecture
  Memory memory;
  std::uint32_t training_context;  // tokens
  std::uint32_t embedding_size;
  std::uint32_t layers;
  std::uint32_t vocabulary_size;
  std::uint64_t parameters;
};

/// Throws Error(kModelInvalid) for inconsistent metadata, Error(kUnsupported) for architectures and tokenizers that are
/// not known, naming the file.
LanguageProfile profile_language_model(const engine::GgufFile& file);

}  // namespace lorekeep::lm
