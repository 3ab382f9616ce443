// What the header of a GGUF file says, for people.
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
  std::vector<std::pair<std::string, Fact>> facts;  // by the names that lib/ gives them; absent keys are left out
};

/// Reads the header; tensors are checked against the file's size and not read. Throws as GgufFile does.
GgufDescription describe_gguf(const std::filesystem::path& path);

}  // namespace lorekeep::engine
