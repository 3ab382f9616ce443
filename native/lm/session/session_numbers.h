#pragma once

#include <cstdint>
#include <vector>

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
  std::uint64_t parked = 0;  // times that a request gave its cells to one of a better class
};

/// A part of the tree of prefixes in a cache: tokens that the sequences below it begin with.
struct PrefixPart {
  std::uint32_t depth = 0;    // 0: begins a prompt
  std::uint32_t tokens = 0;   // of this part alone
  std::uint32_t running = 0;  // requests under way whose prompt ends here
  std::uint32_t kept = 0;     // sequences without a request that end here
  std::uint32_t pinned = 0;   // of these, entries that must stay
  double idle_ms = 0;         // since the last use of a sequence that ends here
};

/// Parents come before their children.
using PrefixParts = std::vector<PrefixPart>;

}  // namespace lorekeep::lm
