// Looks at a cancel token in loops whose steps take nanoseconds, and in the comparisons of a sort.
#pragma once

#include <cstdint>

#include "core/threads/cancel_token.h"

namespace lorekeep {

class Poll {
 public:
  /// `cancel` may be null.
  explicit Poll(const CancelToken* cancel) : cancel_(cancel) {}

  /// Looks at the token once in 65,536 calls. Throws as CancelToken::check().
  void step() {
    if (++steps_ % kStepsPerLook == 0 && cancel_ != nullptr) cancel_->check();
  }

 private:
  static constexpr std::uint32_t kStepsPerLook = 1 << 16;

  const CancelToken* const cancel_;
  std::uint32_t steps_ = 0;
};

}  // namespace lorekeep
