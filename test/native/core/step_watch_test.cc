#include "core/threads/step_watch.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/system/thread_clock.h"
#include "core/threads/work.h"
#include "harness.h"

namespace {

using namespace lorekeep;

constexpr double kLimitMs = 2;

/// Uses processor time for three times the limit.
void work_long() {
  const double end = thread_seconds() + 3 * kLimitMs / 1000;
  while (thread_seconds() < end) {
  }
}

std::vector<LongStep> watch(WatchedPool watched, const std::function<void()>& task) {
  StepWatch::set_limit(kLimitMs);
  {
    ThreadPool(1, {}, ThreadPriority::kNormal, watched).submit(task);
  }
  std::vector<LongStep> found = StepWatch::take();
  StepWatch::set_limit(0);
  return found;
}

/// Whether nothing is found in one of ten runs: a virtual machine that takes the processor away for milliseconds
/// counts them to the thread.
bool nothing_found(const WatchedPool& watched, const std::function<void()>& task) {
  for (int run = 0; run < 10; ++run) {
    if (watch(watched, task).empty()) return true;
  }
  return false;
}

TEST("a task that takes too long is found, with its thread and its place") {
  const std::vector<LongStep> found = watch({"a lane"}, work_long);
  CHECK_EQ(found.size(), 1u);
  CHECK_EQ(found[0].thread, std::string("a lane"));
  CHECK(found[0].where.find("step_watch_test.cc:") != std::string::npos);
  CHECK(found[0].ms > kLimitMs);
  CHECK(nothing_found({"a lane"}, [] {}));
}

TEST("a long task is watched between two looks at its cancel token") {
  const CancelToken token;
  const auto work = [&token](int looks) {
    return [&token, looks] {
      for (int i = 0; i < 100; ++i) {
        const double end = thread_seconds() + kLimitMs / 10 / 1000;
        while (thread_seconds() < end) {
        }
        if (i % looks == 0) token.check();
      }
    };
  };
  const WatchedPool builds{"builds", WatchedStep::EndsAt::kCheck};
  CHECK(nothing_found(builds, work(1)));
  CHECK(!watch(builds, work(50)).empty());
  CHECK_EQ(watch({"searches"}, work(1)).size(), 1u);
}

TEST("exempt parts do not count, and a report names the longest part") {
  CHECK(nothing_found({}, [] {
    const ExemptPart exempt(Exempt::kModelStep);
    work_long();
  }));
  const std::vector<LongStep> found = watch({}, [] {
    {
      const NamedPart part("short");
    }
    const NamedPart part("long");
    work_long();
  });
  CHECK_EQ(found.size(), 1u);
  CHECK_EQ(found[0].part, std::string("long"));
}

TEST("nothing is found while nobody watches, and at most some steps are kept") {
  {
    ThreadPool(1).submit(work_long);
  }
  CHECK(StepWatch::take().empty());
  StepWatch::set_limit(1e-6);
  {
    ThreadPool pool(1);
    for (std::size_t i = 0; i < 2 * StepWatch::kMost; ++i) pool.submit([] { (void)thread_seconds(); });
  }
  CHECK_EQ(StepWatch::take().size(), StepWatch::kMost);
  StepWatch::set_limit(0);
}

}  // namespace
