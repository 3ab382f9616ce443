#include "core/thread_priority.h"

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <pthread/qos.h>
#elif defined(_WIN32)
#include "core/windows_api.h"
#endif

namespace lorekeep {
namespace {

thread_local bool background = false;

}  // namespace

void enter_background() noexcept {
  background = true;
#if defined(__linux__)
  // A tenth of the weight of a thread with nice 0. On Linux, nice values apply to threads.
  constexpr int kNicer = 10;
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  ::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + kNicer);
#elif defined(__APPLE__)
  ::pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#elif defined(_WIN32)
  ::SetThreadPriority(::GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL);
#endif
}

bool in_background() noexcept {
  return background;
}

}  // namespace lorekeep
