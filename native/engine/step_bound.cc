#include "engine/step_bound.h"

#include <algorithm>

namespace lorekeep::engine {

void StepBound::begin(std::chrono::steady_clock::time_point now) {
  work_ = 0;
  began_ = now;
}

bool StepBound::ends_after(double work) {
  work_ += work;
  return work_ * ms_per_work_ >= kPlannedMs;
}

// A slower device counts at once, a faster one gradually: one fast step may be chance.
void StepBound::ended(std::chrono::steady_clock::time_point now) {
  if (work_ > 0) {
    const double measured = std::chrono::duration<double, std::milli>(now - began_).count() / work_;
    ms_per_work_ = std::max(measured, (ms_per_work_ + measured) / 2);
  }
  begin(now);
}

}  // namespace lorekeep::engine
