#include "binding/exports.h"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "binding/arguments.h"
#include "binding/error_translator.h"
#include "scheduler/control.h"

namespace lorekeep::binding {
namespace {

using scheduler::Control;

// In the order of scheduler::ThreadReason.
constexpr std::array<const char*, 5> kThreadReasons = {"all", "throttle", "refused", "trial", "neighbours"};
constexpr scheduler::PerClass<const char*> kClassNames = {"interactiveVisible", "interactiveBuffered", "background"};

std::optional<bool> flag(const Napi::Object& given, const char* name) {
  const Napi::Value value = given.Get(name);
  if (value.IsUndefined()) return std::nullopt;
  if (!value.IsBoolean()) fail(Code::kInvalidArgument, std::string(name) + ": true or false is expected");
  return value.As<Napi::Boolean>().Value();
}

std::optional<double> milliseconds(const Napi::Object& given, const char* name) {
  const Napi::Value value = given.Get(name);
  if (value.IsUndefined()) return std::nullopt;
  const double ms = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!std::isfinite(ms) || ms < 0)
    fail(Code::kInvalidArgument, std::string(name) + ": a number of at least 0 is expected");
  return ms;
}

std::optional<std::uint32_t> tokens(const Napi::Object& given, const char* name) {
  const Napi::Value value = given.Get(name);
  if (value.IsUndefined()) return std::nullopt;
  return static_cast<std::uint32_t>(integer_argument(value, name, 1, std::numeric_limits<std::uint32_t>::max()));
}

std::optional<scheduler::ClassInput> block(const Napi::Object& settings, const char* name) {
  const Napi::Value value = settings.Get(name);
  if (value.IsUndefined()) return std::nullopt;
  const Napi::Object given = object_argument(value, name);
  scheduler::ClassInput input;
  input.prefill_quantum_tokens = tokens(given, "prefillQuantumTokens");
  input.contention_scaling = flag(given, "contentionScaling");
  input.max_pause_ms = milliseconds(given, "maxPauseMs");
  return input;
}

scheduler::SettingsInput settings_argument(const Napi::Value& value) {
  const Napi::Object given = object_argument(value, "settings");
  scheduler::SettingsInput input;
  input.enabled = flag(given, "enabled");
  input.prefill_yield_enabled = flag(given, "prefillYieldEnabled");
  input.prefill_quantum_tokens = tokens(given, "prefillQuantumTokens");
  input.step_target_ms = milliseconds(given, "stepTargetMs");
  for (std::size_t i = 0; i < scheduler::kConsumerClasses; ++i) input.classes[i] = block(given, kClassNames[i]);
  return input;
}

Napi::Object class_stats(Napi::Env env, const scheduler::Report& report, std::size_t i) {
  const scheduler::Stats& stats = report.stats;
  Napi::Object object = Napi::Object::New(env);
  object.Set("decodeTokens", static_cast<double>(stats.decode_tokens[i]));
  object.Set("prefillTokens", static_cast<double>(stats.prefill_tokens[i]));
  object.Set("longestWaitMs", stats.longest_wait_ms[i]);
  object.Set("running", report.running[i]);
  object.Set("queued", report.queued[i]);
  return object;
}

std::uint32_t sum(const scheduler::PerClass<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
}

}  // namespace

void configure_scheduler(const Napi::CallbackInfo& info) {
  Control::of_process().configure(scheduler::complete(settings_argument(info[0])));
}

void set_throttle(const Napi::CallbackInfo& info) {
  const double level = info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
  if (!(level >= 0 && level <= 1)) fail(Code::kInvalidArgument, "level: a number from 0 to 1 is expected");
  Control::of_process().set_throttle(level);
}

Napi::Value scheduler_stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const scheduler::Report report = Control::of_process().report();
  Napi::Object object = Napi::Object::New(env);
  object.Set("throttle", Control::of_process().throttle());
  object.Set("steps", static_cast<double>(report.stats.steps));
  object.Set("busyMs", report.stats.busy_ms);
  object.Set("longestStepMs", report.stats.longest_step_ms);
  object.Set("chunksCut", static_cast<double>(report.stats.chunks_cut));
  object.Set("pauses", static_cast<double>(report.pauses));
  object.Set("pausedMs", report.paused_ms);
  object.Set("running", sum(report.running));
  object.Set("queued", sum(report.queued));
  object.Set("threads", report.threads);
  object.Set("threadReason", kThreadReasons[static_cast<std::size_t>(report.thread_reason)]);
  for (std::size_t i = 0; i < scheduler::kConsumerClasses; ++i) {
    object.Set(kClassNames[i], class_stats(env, report, i));
  }
  return object;
}

}  // namespace lorekeep::binding
