// A summary of a GGUF file's header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lorekeep::engine {

struct GgufDescription {
  using Fact = std::variant<std::int64_t, std::string>;

  std::uint64_t tensors = 0;
  std::vector<std::pair<std::string, Fact>> facts;  // named as in lib/; without absent keys
};

/// Reads the header and checks the tensors against the file's size without reading them. Throws as GgufFile.
GgufDescription describe_gguf(const std::filesystem::path& path);

}  // namespace lorekeep::engine
