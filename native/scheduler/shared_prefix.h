// Prompts that begin alike are computed once: the later ones wait for the first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "scheduler/request.h"

namespace lorekeep::scheduler {

/// A shorter common beginning is computed again: that costs less than to wait.
inline constexpr std::uint32_t kShortestSharedPrefix = 32;

struct RunningPrompt {
  RequestId id;
  std::span<const std::int32_t> tokens;
  /// Tokens of it that are computed.
  std::uint32_t position;
};

/// Returns the running prompt with the longest common beginning that it has not computed yet, or nothing if no
/// beginning is worth it. `reused` tokens of the new prompt are there already. `running` holds older requests that may
/// share cells with it. The last token of a prompt is never shared: its logits are needed.
std::optional<PrefixWait> prefix_to_wait_for(std::span<const std::int32_t> tokens, std::uint32_t reused,
                                             std::span<const RunningPrompt> running);

}  // namespace lorekeep::scheduler
