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

void Control::set_active(const PerClass<bool>& active) noexcept {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kConsumerClasses; ++i) bits |= static_cast<std::uint32_t>(active[i]) << i;
  active_.store(bits, std::memory_order_relaxed);
}

PerClass<bool> Control::active() const noexcept {
  const std::uint32_t bits = active_.load(std::memory_order_relaxed);
  PerClass<bool> active{};
  for (std::size_t i = 0; i < kConsumerClasses; ++i) active[i] = (bits >> i & 1) != 0;
  return active;
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
