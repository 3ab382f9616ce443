#pragma once

#include <cstdint>

namespace lorekeep::lm {

/// A token id, as llama.cpp's llama_token.
using Token = std::int32_t;

}  // namespace lorekeep::lm
