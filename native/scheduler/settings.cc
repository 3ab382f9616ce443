#include "scheduler/settings.h"

#include <algorithm>
#include <cmath>

#include "core/values/error.h"
#include "scheduler/shares.h"

namespace lorekeep::scheduler {

namespace {

/// Share of the threads that a full throttle takes away. Fewer cores are touched, and the pauses give the rest time.
constexpr double kThrottledThreads = 0.75;

constexpr PerClass<const char*> kBlocks = {"interactive_visible", "interactive_buffered", "background"};

std::uint32_t checked_quantum(std::uint32_t tokens, const std::string& field) {
  if (tokens == 0) fail(Code::kInvalidArgument, field + ": at least 1 token is expected");
  return tokens;
}

double checked_ms(double ms, const std::string& field) {
  if (!std::isfinite(ms) || ms < 0) fail(Code::kInvalidArgument, field + ": a number of ms of at least 0 is expected");
  return ms;
}

void apply(const ClassInput& input, ClassSettings& settings, const std::string& block) {
  if (input.prefill_quantum_tokens) {
    settings.prefill_quantum_tokens = checked_quantum(*input.prefill_quantum_tokens, block + ".prefill_quantum_tokens");
  }
  if (input.contention_scaling) settings.contention_scaling = *input.contention_scaling;
  if (input.max_pause_ms) settings.max_pause_ms = checked_ms(*input.max_pause_ms, block + ".max_pause_ms");
}

}  // namespace

Settings complete(const SettingsInput& input) {
  Settings settings;
  settings.enabled = input.enabled.value_or(settings.enabled);
  settings.prefill_yield_enabled = input.prefill_yield_enabled.value_or(settings.prefill_yield_enabled);
  if (input.step_target_ms) settings.step_target_ms = checked_ms(*input.step_target_ms, "step_target_ms");
  bool any_block = false;
  for (std::size_t i = 0; i < kConsumerClasses; ++i) {
    if (!input.classes[i]) continue;
    any_block = true;
    apply(*input.classes[i], settings.classes[i], kBlocks[i]);
  }
  if (input.prefill_quantum_tokens) {
    const std::uint32_t quantum = checked_quantum(*input.prefill_quantum_tokens, "prefill_quantum_tokens");
    if (!any_block) {
      for (ClassSettings& block : settings.classes) block.prefill_quantum_tokens = quantum;
    }
  }
  return settings;
}

std::uint32_t chunk_tokens(const Settings& settings, ConsumerClass consumer_class, std::uint32_t competing,
                           std::uint32_t n_batch) noexcept {
  if (!settings.enabled || !settings.prefill_yield_enabled) return n_batch;
  const ClassSettings& block = settings.of(consumer_class);
  const std::uint32_t chunk = std::min(block.prefill_quantum_tokens, n_batch);
  if (!block.contention_scaling) return chunk;
  return std::max(chunk / competing, std::min(kChunkFloor, chunk));
}

double pause_ms(const Settings& settings, const PerClass<bool>& classes, double level) noexcept {
  if (!settings.enabled) return 0;
  std::optional<double> shortest;
  for (std::size_t i = 0; i < kConsumerClasses; ++i) {
    if (classes[i])
      shortest = std::min(shortest.value_or(settings.classes[i].max_pause_ms), settings.classes[i].max_pause_ms);
  }
  return std::clamp(level, 0.0, 1.0) * shortest.value_or(0);
}

std::uint32_t threads_at(const Settings& settings, std::uint32_t threads, double level) noexcept {
  if (!settings.enabled) return threads;
  const double left = threads * (1 - kThrottledThreads * std::clamp(level, 0.0, 1.0));
  return std::max(1u, static_cast<std::uint32_t>(std::lround(left)));
}

std::uint32_t threads_beside(const Settings& settings, std::uint32_t threads, const PerClass<bool>& active,
                             double level) noexcept {
  const std::uint32_t throttled = threads_at(settings, threads, level);
  if (!settings.enabled) return throttled;
  for (std::size_t i = 0; i < kConsumerClasses; ++i) {
    if (active[i] && interactive(static_cast<ConsumerClass>(i))) return std::min(throttled, std::max(1u, threads / 2));
  }
  return throttled;
}

Rest rest_after(const Settings& settings, ConsumerClass consumer_class, double took_ms, const PerClass<bool>& active,
                double level) noexcept {
  if (!settings.enabled) return {};
  PerClass<bool> own{};
  own[index_of(consumer_class)] = true;
  Rest rest{pause_ms(settings, own, level), 0};
  if (interactive(consumer_class)) return rest;
  for (std::size_t i = 0; i < kConsumerClasses; ++i) {
    if (active[i] && interactive(static_cast<ConsumerClass>(i)))
      rest.share_ms += took_ms * kWeights[i] / kWeights[index_of(consumer_class)];
  }
  return rest;
}

}  // namespace lorekeep::scheduler
