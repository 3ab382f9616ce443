#include "core/system/thread_priority.h"

#include <cstdint>

#if defined(__linux__)
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <pthread/qos.h>
#elif defined(_WIN32)
#include "core/system/windows_api.h"
#endif

namespace lorekeep {
namespace {

thread_local bool background = false;

#if defined(__linux__)
/// Shortens the time slice of the calling thread (Linux 6.12; no effect before), so that a thread that wakes for a
/// search takes the core at once. Otherwise the scheduler lets this one use up its slice of some milliseconds.
void take_short_slices(id_t thread) noexcept {
  struct {  // struct sched_attr, which the C library may lack
    std::uint32_t size = 48;
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 100'000;  // ns, the least that Linux takes
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
  } attributes;
  attributes.nice = ::getpriority(PRIO_PROCESS, thread);
  ::syscall(SYS_sched_setattr, thread, &attributes, 0);
}
#endif

}  // namespace

void enter_priority(ThreadPriority priority) noexcept {
  if (priority == ThreadPriority::kNormal) return;
  background = priority == ThreadPriority::kBackground;
#if defined(__linux__)
  // Half and a tenth of the weight of a thread with nice 0: searches also have to keep up with other programs. On
  // Linux, nice values apply to threads.
  constexpr int kSearchNicer = 3;
  constexpr int kBackgroundNicer = 10;
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  const int nicer = background ? kBackgroundNicer : kSearchNicer;
  ::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + nicer);
  if (background) take_short_slices(thread);
#elif defined(__APPLE__)
  // Searches keep the default class: the next lower one is for background work.
  if (background) ::pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#elif defined(_WIN32)
  ::SetThreadPriority(::GetCurrentThread(), background ? THREAD_PRIORITY_LOWEST : THREAD_PRIORITY_BELOW_NORMAL);
#endif
}

bool in_background() noexcept {
  return background;
}

}  // namespace lorekeep
