// Settings of the scheduler: the fields of `inference.scheduler` in the config file.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/consumer_class.h"

namespace lorekeep::scheduler {

/// Contention scaling divides a chunk down to this many tokens, unless the chunk is smaller by itself.
inline constexpr std::uint32_t kChunkFloor = 64;

struct ClassSettings {
  std::uint32_t prefill_quantum_tokens;
  bool contention_scaling;
  double max_pause_ms;
};

struct Settings {
  /// False: first come, first served, whole batches, no pauses.
  bool enabled = true;
  /// False: a prompt fills whole batches until it is finished.
  bool prefill_yield_enabled = true;
  PerClass<ClassSettings> classes = {{{256, true, 10}, {512, false, 50}, {128, true, 50}}};
  /// Longest step while somebody streams, in ms; 0: no limit. Absent: three decode steps and 50 ms.
  std::optional<double> step_target_ms;

  const ClassSettings& of(ConsumerClass consumer_class) const noexcept { return classes[index_of(consumer_class)]; }
};

/// Settings as a caller writes them: absent fields keep their defaults.
struct ClassInput {
  std::optional<std::uint32_t> prefill_quantum_tokens;
  std::optional<bool> contention_scaling;
  std::optional<double> max_pause_ms;
};

struct SettingsInput {
  std::optional<bool> enabled;
  std::optional<bool> prefill_yield_enabled;
  /// The quantum of every class, if no class has a block.
  std::optional<std::uint32_t> prefill_quantum_tokens;
  PerClass<std::optional<ClassInput>> classes;
  std::optional<double> step_target_ms;
};

/// Completes `input`. @throws Error(kInvalidArgument) for a quantum of 0 and for pauses and targets that are not finite
/// or negative
Settings complete(const SettingsInput& input);

/// Returns the largest chunk of a prompt of the class on a model with `competing` unfinished prompts, before the
/// prompt's rest, the room in the batch and the step target are considered. Preconditions: competing >= 1, n_batch
/// >= 1.
std::uint32_t chunk_tokens(const Settings& settings, ConsumerClass consumer_class, std::uint32_t competing,
                           std::uint32_t n_batch) noexcept;

/// Returns the pause after a step of these classes: `level` (0 to 1) times the shortest max_pause_ms among them.
double pause_ms(const Settings& settings, const PerClass<bool>& classes, double level) noexcept;

/// Returns how many of `threads` compute at a throttle level (0 to 1): all at 0, a quarter at 1, at least one.
std::uint32_t threads_at(const Settings& settings, std::uint32_t threads, double level) noexcept;

/// Returns how many of `threads` of its own a computation beside the inference thread uses: as threads_at(), and at
/// most half of them while interactive requests run, `active`.
std::uint32_t threads_beside(const Settings& settings, std::uint32_t threads, const PerClass<bool>& active,
                             double level) noexcept;

/// Returns how long work of a class on other threads, such as embedding, rests after `took_ms` of computing. Throttled,
/// as pause_ms(). In the background, also as long as the interactive requests that run, `active`, get by their shares.
struct Rest {
  double throttle_ms = 0;
  double share_ms = 0;  // void as soon as no interactive request runs
};
Rest rest_after(const Settings& settings, ConsumerClass consumer_class, double took_ms, const PerClass<bool>& active,
                double level) noexcept;

}  // namespace lorekeep::scheduler
