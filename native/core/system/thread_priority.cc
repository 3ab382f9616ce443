#include "core/system/thread_priority.h"

#if defined(__linux__)
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
