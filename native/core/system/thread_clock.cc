#include "core/system/thread_clock.h"

#include <chrono>
#include <ctime>

namespace lorekeep {

double thread_seconds() noexcept {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  constexpr double kNano = 1e-9;
  timespec now;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
    return static_cast<double>(now.tv_sec) + kNano * static_cast<double>(now.tv_nsec);
#endif
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace lorekeep
