// A saved prefix, a section file (core/files/section_file.h): tokens and their state in the KV cache of one model.
//
//   section  content
//         1  how the state was made: model options and the version of llama.cpp, as text
//         2  tokens, i32
//         3  state as llama.cpp writes it
//
// The header's fingerprint is the model file's. A state of another model, option or version is refused.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/section_table.h"
#include "core/threads/cancel_token.h"
#include "lm/text/token.h"

namespace lorekeep::lm {

inline constexpr Magic kPrefixMagic{{'L', 'K', 'P', 'R', 'E', 'F', 'X', '\0'}};
inline constexpr std::uint32_t kPrefixVersion = 1;

struct SavedPrefix {
  std::vector<Token> tokens;
  std::vector<std::byte> state;
};

/// Identifies the inputs of a state.
struct PrefixSource {
  std::uint64_t fingerprint;
  std::string runtime;
  std::uint32_t vocabulary_size;
};

/// Throws Error(kIo), Error(kInvalidArgument) (the destination is another kind of file), Error(kCancelled).
void write_prefix(const std::filesystem::path& path, const PrefixSource& source, const SavedPrefix& prefix,
                  const CancelToken* cancel);
/// Throws Error naming the file: kNotFound, kIo, kCorrupt, kUnsupported (another model, version or option), kCancelled.
SavedPrefix read_prefix(const std::filesystem::path& path, const PrefixSource& source, const CancelToken* cancel);

}  // namespace lorekeep::lm
