// Ends steps of a GPU before they take long: a GPU cannot draw while it computes. Internal to native/engine.
#pragma once

#include <chrono>

namespace lorekeep::engine {

/// Cuts the operations of a model's graphs into steps, by the time that work took in earlier steps. A step ends with
/// the operation that brings its expected time to kPlannedMs, so one operation is the shortest step. Before the first
/// step has been measured, a graph is one step. Not thread-safe.
class StepBound {
 public:
  static constexpr double kPlannedMs = 200;

  /// A graph is about to be computed.
  void begin(std::chrono::steady_clock::time_point now);
  /// Returns whether the step ends after the next operation. `work`: any unit that is proportional to time.
  bool ends_after(double work);
  /// The step has been computed; another one begins.
  void ended(std::chrono::steady_clock::time_point now);

 private:
  double ms_per_work_ = 0;  // 0: nothing measured yet
  double work_ = 0;         // of the current step
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace lorekeep::engine
