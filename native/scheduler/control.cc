#include "scheduler/control.h"

namespace lorekeep::scheduler {

Control& Control::of_process() {
  // Never destroyed: the inference thread may outlive the static objects.
  static auto* const control = new Control();
  return *control;
}

void Control::configure(const Settings& settings) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
  version_.fetch_add(1, std::memory_order_release);
}

Settings Control::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

void Control::publish(const Report& report) {
  const std::lock_guard lock(mutex_);
  report_ = report;
}

Report Control::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace lorekeep::scheduler
