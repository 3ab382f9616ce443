#pragma once

#include <cstdint>

namespace lorekeep::lm {

/// Numbers of a model, for diagnostics.
struct SessionNumbers {
  std::uint32_t cells = 0;
  std::uint32_t cells_used = 0;
  std::uint32_t cells_reserved = 0;
  std::uint32_t sequences_running = 0;
  std::uint32_t sequences_kept = 0;  // prefixes that later requests may share
  std::uint32_t queued = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t prompt_tokens_cached = 0;
};

}  // namespace lorekeep::lm
