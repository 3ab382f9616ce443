// Why a step was computed by as many threads as it was.
#pragma once

#include <cstdint>

namespace lorekeep::scheduler {

enum class ThreadReason : std::uint8_t {
  kAll,         // as many as the options of the model say
  kThrottle,    // fewer, for the throttle
  kRefused,     // fewer, because the system started no more
  kTrial,       // another number than usual, to measure which is faster
  kNeighbours,  // fewer, which were faster: more held each other up
};

/// The numbers that threads were limited to, in this order.
struct ThreadLimits {
  std::uint32_t options;    // by the options of the model
  std::uint32_t throttled;  // of these, by the throttle
  std::uint32_t started;    // by the system
};

/// Returns why `used` threads computed. `trial`: whether that number was a try.
constexpr ThreadReason thread_reason(const ThreadLimits& limits, std::uint32_t used, bool trial) noexcept {
  if (trial) return ThreadReason::kTrial;
  if (used >= limits.options) return ThreadReason::kAll;
  if (used < limits.throttled && used < limits.started) return ThreadReason::kNeighbours;
  return limits.started < limits.throttled ? ThreadReason::kRefused : ThreadReason::kThrottle;
}

}  // namespace lorekeep::scheduler
