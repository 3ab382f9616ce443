// Finds work that keeps its thread from others for too long: a task of a lane or pool, the part of a long task between
// two looks at its cancel token, or a turn of the inference thread. Off unless somebody watches: tests, the reliability
// campaign, and development editions on request. Costs one load per task, and per look at a cancel token, while it is
// off.
#pragma once

#include <atomic>
#include <source_location>
#include <string>
#include <vector>

namespace lorekeep {

/// Work that took more than the limit. Times are processor time of its thread, in ms.
struct LongStep {
  std::string thread;
  std::string where;  // file:line function
  double ms = 0;
  std::string part;  // the named part of it that took longest; empty: none
  double part_ms = 0;
};

/// Work whose time does not count, because something else bounds it. The only exemptions.
enum class Exempt {
  kModelStep,       // matrix products of a language model: the scheduler plans them (step_target_ms)
  kEmbeddingBatch,  // matrix products of at most 512 tokens or one text: cancelled between two operations
  kModelLoad,       // llama.cpp reads a model that the operator has chosen, or its header, on the long lane
};

class StepWatch {
 public:
  /// Watches from now on. `limit_ms` 0 ends it and forgets the found steps.
  static void set_limit(double limit_ms) noexcept;
  static bool on() noexcept { return limit_ms_.load(std::memory_order_relaxed) > 0; }
  /// Returns the steps found since the last call, at most kMost.
  static std::vector<LongStep> take();

  static constexpr std::size_t kMost = 64;

 private:
  friend class WatchedStep;
  static std::atomic<double> limit_ms_;
};

/// Watches the work of the calling thread during its lifetime.
class WatchedStep {
 public:
  /// kCheck: each look at a cancel token ends a step and begins the next one.
  enum class EndsAt { kEnd, kCheck };

  /// `thread` names the thread, and must outlive this.
  WatchedStep(const char* thread, const std::source_location& where, EndsAt ends = EndsAt::kEnd) noexcept
      : ends_(ends), thread_(thread), where_(where) {
    if (StepWatch::on()) begin();
  }
  ~WatchedStep() {
    if (watching_) end();
  }
  WatchedStep(const WatchedStep&) = delete;
  WatchedStep& operator=(const WatchedStep&) = delete;

  /// The calling thread has looked at a cancel token.
  static void checked() noexcept;

 private:
  friend class ExemptPart;
  friend class CheckedPart;
  friend class NamedPart;
  void begin() noexcept;
  void end() noexcept;
  void report(double now) noexcept;

  EndsAt ends_;
  const char* const thread_;
  const std::source_location where_;
  bool watching_ = false;
  WatchedStep* outer_ = nullptr;
  double began_ = 0;  // in seconds of the thread's clock, later by the exempt parts
  const char* part_ = nullptr;
  double part_seconds_ = 0;
};

/// The work during its lifetime does not count as part of the thread's step.
class ExemptPart {
 public:
  explicit ExemptPart(Exempt) noexcept;
  ~ExemptPart();
  ExemptPart(const ExemptPart&) = delete;
  ExemptPart& operator=(const ExemptPart&) = delete;

 private:
  WatchedStep* const step_;
  double began_ = 0;
};

/// During its lifetime each look at a cancel token ends a step: for tasks whose client waits for itself, such as texts
/// of any length that are cut into tokens in the client's share of the search threads.
class CheckedPart {
 public:
  CheckedPart() noexcept;
  ~CheckedPart();
  CheckedPart(const CheckedPart&) = delete;
  CheckedPart& operator=(const CheckedPart&) = delete;

 private:
  WatchedStep* const step_;
  WatchedStep::EndsAt before_ = WatchedStep::EndsAt::kEnd;
};

/// Names the work during its lifetime in the report about a long step.
class NamedPart {
 public:
  explicit NamedPart(const char* name) noexcept;
  ~NamedPart();
  NamedPart(const NamedPart&) = delete;
  NamedPart& operator=(const NamedPart&) = delete;

 private:
  WatchedStep* const step_;
  const char* const name_;
  double began_ = 0;
};

}  // namespace lorekeep
