#include "scheduler/shared_prefix.h"

#include <algorithm>

namespace lorekeep::scheduler {

namespace {

std::uint32_t common_beginning(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  const auto [end, _] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::uint32_t>(end - a.begin());
}

}  // namespace

std::optional<PrefixWait> prefix_to_wait_for(std::span<const std::int32_t> tokens, std::uint32_t reused,
                                             std::span<const RunningPrompt> running) {
  if (tokens.empty()) return std::nullopt;
  std::optional<PrefixWait> best;
  std::uint32_t gain = kShortestSharedPrefix - 1;
  for (const RunningPrompt& other : running) {
    const std::uint32_t common = common_beginning(tokens.first(tokens.size() - 1), other.tokens);
    if (common <= other.position || common <= reused || common - reused <= gain) continue;
    gain = common - reused;
    best = PrefixWait{other.id, common};
  }
  return best;
}

}  // namespace lorekeep::scheduler
