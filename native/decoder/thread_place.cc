#include "decoder/thread_place.h"

#if defined(__linux__)
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lorekeep::decoder {
#if defined(__linux__)

void ThreadPlace::of_this_thread() noexcept {
  if (pthread_getcpuclockid(pthread_self(), &clock_) == 0) thread_ = static_cast<pid_t>(syscall(SYS_gettid));
}

std::int64_t ThreadPlace::used() const noexcept {
  timespec time{};
  if (thread_ == 0 || clock_gettime(clock_, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool ThreadPlace::pull() noexcept {
  const int processor = sched_getcpu();
  if (thread_ == 0 || processor < 0 || sched_getaffinity(thread_, sizeof allowed_, &allowed_) != 0) return false;
  if (CPU_COUNT(&allowed_) < 2 || !CPU_ISSET(processor, &allowed_)) return false;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(processor, &here);
  return sched_setaffinity(thread_, sizeof here, &here) == 0;
}

void ThreadPlace::release() noexcept {
  cpu_set_t others = allowed_;
  const int processor = sched_getcpu();
  if (processor >= 0) CPU_CLR(processor, &others);
  sched_setaffinity(thread_, sizeof others, &others);
  sched_setaffinity(thread_, sizeof allowed_, &allowed_);
}

#else

void ThreadPlace::of_this_thread() noexcept {}
std::int64_t ThreadPlace::used() const noexcept {
  return -1;
}
bool ThreadPlace::pull() noexcept {
  return false;
}
void ThreadPlace::release() noexcept {}

#endif
}  // namespace lorekeep::decoder
