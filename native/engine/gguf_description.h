// A summary of a GGUF file's header.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/gguf_file.h"

namespace lorekeep::engine {

struct GgufDescription {
  using Fact = std::variant<std::int64_t, std::string>;

  std::uint64_t tensors = 0;
  std::vector<std::pair<std::string, Fact>> facts;  // named as in lib/; without absent keys
};

/// Describes a file by its header.
GgufDescription describe_gguf(const GgufFile& file);

}  // namespace lorekeep::engine
