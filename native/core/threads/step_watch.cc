#include "core/threads/step_watch.h"

#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/system/thread_clock.h"

namespace lorekeep {
namespace {

constexpr double kMsPerSecond = 1000;

/// The innermost watched step of this thread.
thread_local WatchedStep* current_step = nullptr;

struct Found {
  std::mutex mutex;
  std::vector<LongStep> steps;
};

Found& found() {
  static auto* all = new Found;  // leaked: threads may report while the process ends
  return *all;
}

std::string place_of(const std::source_location& where) {
  std::string_view file = where.file_name();
  if (const auto native = file.rfind("native/"); native != std::string_view::npos) file.remove_prefix(native);
  return std::string(file) + ":" + std::to_string(where.line()) + " " + where.function_name();
}

}  // namespace

std::atomic<double> StepWatch::limit_ms_{0};

void StepWatch::set_limit(double limit_ms) noexcept {
  limit_ms_.store(limit_ms, std::memory_order_relaxed);
  if (limit_ms > 0) return;
  std::lock_guard lock(found().mutex);
  found().steps.clear();
}

std::vector<LongStep> StepWatch::take() {
  std::lock_guard lock(found().mutex);
  return std::exchange(found().steps, {});
}

void WatchedStep::begin() noexcept {
  watching_ = true;
  outer_ = std::exchange(current_step, this);
  began_ = thread_seconds();
}

void WatchedStep::end() noexcept {
  report(thread_seconds());
  current_step = outer_;
}

void WatchedStep::checked() noexcept {
  WatchedStep* const step = current_step;
  if (step == nullptr || step->ends_ != EndsAt::kCheck) return;
  const double now = thread_seconds();
  step->report(now);
  step->began_ = now;
  step->part_ = nullptr;
  step->part_seconds_ = 0;
}

void WatchedStep::report(double now) noexcept {
  const double ms = kMsPerSecond * (now - began_);
  const double limit = StepWatch::limit_ms_.load(std::memory_order_relaxed);
  if (limit <= 0 || ms <= limit) return;
  try {
    LongStep step{thread_, place_of(where_), ms, part_ == nullptr ? "" : part_, kMsPerSecond * part_seconds_};
    std::lock_guard lock(found().mutex);
    if (found().steps.size() < StepWatch::kMost) found().steps.push_back(std::move(step));
  } catch (const std::exception&) {  // no memory for a report
  }
}

ExemptPart::ExemptPart(Exempt) noexcept : step_(current_step) {
  if (step_ == nullptr) return;
  current_step = nullptr;  // its parts and looks at tokens belong to no step
  began_ = thread_seconds();
}

ExemptPart::~ExemptPart() {
  if (step_ == nullptr) return;
  step_->began_ += thread_seconds() - began_;
  current_step = step_;
}

CheckedPart::CheckedPart() noexcept : step_(current_step) {
  if (step_ != nullptr) before_ = std::exchange(step_->ends_, WatchedStep::EndsAt::kCheck);
}

CheckedPart::~CheckedPart() {
  if (step_ != nullptr) step_->ends_ = before_;
}

NamedPart::NamedPart(const char* name) noexcept : step_(current_step), name_(name) {
  if (step_ != nullptr) began_ = thread_seconds();
}

NamedPart::~NamedPart() {
  if (step_ == nullptr) return;
  const double seconds = thread_seconds() - began_;
  if (seconds <= step_->part_seconds_) return;
  step_->part_ = name_;
  step_->part_seconds_ = seconds;
}

}  // namespace lorekeep
