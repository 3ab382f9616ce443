#include "engine/step_bound.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "harness.h"

using lorekeep::engine::StepBound;

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

/// A device on which a unit of work takes `ms`.
struct Device {
  double ms;
  StepBound bound{};
  std::chrono::steady_clock::time_point now{};

  /// Computes a graph of equal operations. Returns the times of its steps.
  std::vector<double> compute(int operations, double work) {
    std::vector<double> steps;
    double step = 0;
    const auto end_step = [&] {
      now += std::chrono::duration_cast<std::chrono::steady_clock::duration>(Milliseconds(step));
      bound.ended(now);
      steps.push_back(step);
      step = 0;
    };
    bound.begin(now);
    for (int i = 0; i < operations; ++i) {
      step += work * ms;
      if (bound.ends_after(work)) end_step();
    }
    if (step > 0) end_step();
    return steps;
  }
};

}  // namespace

TEST("a short graph is one step") {
  Device device{0.001};
  for (int i = 0; i < 10; ++i) CHECK_EQ(device.compute(300, 100).size(), std::size_t{1});
}

TEST("a long graph is cut by the time that earlier steps took") {
  Device device{0.001};
  device.compute(300, 3);  // as the probe
  const std::vector<double> steps = device.compute(300, 20'000);
  CHECK(steps.size() > 20);
  for (double ms : steps) CHECK(ms < StepBound::kPlannedMs + 20);
}

TEST("the steps follow a device that slows down and recovers") {
  Device device{0.001};
  device.compute(300, 20'000);
  device.ms = 0.01;
  device.compute(300, 20'000);  // its first step shows that it is slow
  std::vector<double> slow = device.compute(300, 20'000);
  CHECK(*std::max_element(slow.begin(), slow.end()) <= StepBound::kPlannedMs + 0.001);
  device.ms = 0.001;
  device.compute(300, 20'000);
  CHECK(device.compute(300, 20'000).size() < 35);
}

TEST("one operation is the shortest step") {
  Device device{1};
  device.compute(3, 1);
  CHECK_EQ(device.compute(3, 1000).size(), std::size_t{3});
}
