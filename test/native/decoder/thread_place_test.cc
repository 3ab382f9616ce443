#include "decoder/thread_place.h"

#include <thread>

#include "core/threads/semaphore.h"
#include "harness.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lorekeep::decoder {
namespace {

/// A thread that sleeps.
class Sleeper {
 public:
  Sleeper() : thread_([this] { sleep(); }) { ready_.acquire(); }
  ~Sleeper() {
    end_.release();
    thread_.join();
  }

  ThreadPlace& place() { return place_; }
  cpu_set_t allowed() const {
    cpu_set_t found;
    CPU_ZERO(&found);
    sched_getaffinity(id_, sizeof found, &found);
    return found;
  }

 private:
  void sleep() {
    place_.of_this_thread();
    id_ = static_cast<pid_t>(syscall(SYS_gettid));
    ready_.release();
    end_.acquire();
  }

  ThreadPlace place_;
  pid_t id_ = 0;
  Semaphore ready_;
  Semaphore end_;
  std::thread thread_;
};

TEST("thread place: a pulled thread may use one processor only, and afterwards the same as before") {
  Sleeper sleeper;
  const cpu_set_t before = sleeper.allowed();
  if (CPU_COUNT(&before) < 2) return;
  REQUIRE(sleeper.place().pull());
  const cpu_set_t pulled = sleeper.allowed();
  CHECK_EQ(CPU_COUNT(&pulled), 1);
  sleeper.place().release();
  const cpu_set_t after = sleeper.allowed();
  CHECK(CPU_EQUAL(&after, &before));
}

TEST("thread place: a thread that runs uses time") {
  ThreadPlace own;
  CHECK_EQ(own.used(), -1);
  own.of_this_thread();
  const std::int64_t begin = own.used();
  REQUIRE(begin >= 0);
  while (own.used() == begin) continue;
  CHECK(own.used() > begin);
}

TEST("thread place: nothing is pulled that is not known") {
  ThreadPlace none;
  CHECK(!none.pull());
}

}  // namespace
}  // namespace lorekeep::decoder
#endif
