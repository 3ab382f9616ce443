// The head of a sequence's state as llama.cpp writes it. Internal to native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lorekeep::lm {

/// Where a context keeps the tokens of a sequence.
struct StateLayout {
  std::uint32_t streams;  // of the KV cache; 0: no KV cache, the sequence has one recurrent state
};

/// Whether the counts at the head of a state are those of a sequence of `tokens` tokens: as many cells, in one stream.
/// Untrusted states pass this check before llama.cpp, which allocates by these counts, reads them.
bool states_tokens(std::span<const std::byte> state, const StateLayout& layout, std::uint32_t tokens) noexcept;

}  // namespace lorekeep::lm
