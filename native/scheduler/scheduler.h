// Plans the next batch. Pure: it knows requests by number, and time only as an argument. One thread
// uses it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "scheduler/costs.h"
#include "scheduler/request.h"
#include "scheduler/settings.h"
#include "scheduler/shares.h"

namespace lorekeep::scheduler {

/// Longest step on a GPU, in ms: it cannot draw while it computes.
inline constexpr double kMaxGpuStepMs = 500;
/// Longest planned step there: single steps take longer than expected, and more so when the number of streams changes.
inline constexpr double kPlannedGpuStepMs = 0.65 * kMaxGpuStepMs;

/// Limits of a model's batches.
struct ModelLimits {
  /// Maximum number of tokens of a step.
  std::uint32_t n_batch = 512;
  /// Maximum number of requests that decode in a step.
  std::uint32_t max_decodes = 256;
  /// Chunks end at multiples of this position, so that their borders do not depend on other requests; 0: anywhere.
  std::uint32_t chunk_grid = 0;
  /// Prompts are computed whole, as embedding models need it; a longer one than n_batch has a step of its own.
  bool whole_prompts = false;
  /// Longest planned step in ms: other programs share the device; 0: no limit. A first step whose costs are not yet
  /// known, and a whole prompt, may take longer.
  double most_step_ms = 0;
};

/// Counts since the start. Times in ms.
struct Stats {
  std::uint64_t steps = 0;
  /// Chunks that the step target made smaller.
  std::uint64_t chunks_cut = 0;
  PerClass<std::uint64_t> decode_tokens{};
  PerClass<std::uint64_t> prefill_tokens{};
  /// Longest time that a ready request of the class went without a step.
  PerClass<double> longest_wait_ms{};
  double busy_ms = 0;
  double longest_step_ms = 0;
};

class Scheduler {
 public:
  void configure(const Settings& settings) { settings_ = settings; }
  const Settings& settings() const noexcept { return settings_; }
  /// Adds a model, or changes its limits. Precondition: n_batch and max_decodes are at least 1.
  void set_model(ModelId model, ModelLimits limits);
  /// Forgets a model and its costs.
  void remove_model(ModelId model);

  /// Returns the next step; empty if no request can run. Each id occurs once in `requests`, and each model is set.
  /// Every step that is not empty must be given to finish() before the next plan(), also if it failed or was aborted.
  Step plan(std::span<const Request> requests, double now_ms);
  /// Charges a step that took this long and, unless it was `aborted`, learns from it. After an aborted step, decodes
  /// run without prompts once: prompts that are cancelled step by step delay replies, but do not stop them.
  void finish(const Step& step, double took_ms, bool aborted = false);
  /// Charges a group for work outside of steps, such as masks of constraints.
  void charge(Group group, double took_ms) { shares_.charge(group, took_ms); }
  /// Returns the pause after a step at a throttle level of 0 to 1, in ms.
  double pause_after(const Step& step, double level) const noexcept;

  /// Returns the index of the queued request that is admitted next, by class and then by age; every ten seconds of
  /// waiting count as a better class. Nothing if no request is queued. If it does not fit, the others wait with it.
  std::optional<std::size_t> next_to_admit(std::span<const Request> requests, double now_ms) const;

  const Stats& stats() const noexcept { return stats_; }

 private:
  struct Model {
    ModelLimits limits;
    Costs costs;
    bool decodes_lost = false;  // with the prompts of the latest step that had both
  };
  /// A request and its relation to the others.
  struct Candidate {
    const Request* request;
    ConsumerClass consumer_class;  // a leader has the best class of the requests that wait for it
    bool held;                     // waits for a leader

    bool ready() const noexcept { return request->admitted && !held; }
  };
  struct Service {
    std::uint64_t step = 0;  // the last step that served the request
    double at_ms = 0;
    bool seen = false;
  };

  std::vector<Candidate> candidates(std::span<const Request> requests) const;
  void track(const std::vector<Candidate>& candidates, double now_ms);
  std::vector<Group> groups(const std::vector<Candidate>& candidates) const;
  Group choose(const std::vector<Group>& active);
  std::optional<double> step_limit_ms(const std::vector<Candidate>& candidates) const;
  Step shared_step(const std::vector<Candidate>& candidates, Group turn);
  Step first_come(const std::vector<Candidate>& candidates) const;
  void charge(const Step& step, const PromptWork& prompts, const Costs& costs, double took_ms);
  void record(const Step& step, const std::vector<Candidate>& candidates, double now_ms);

  Settings settings_;
  std::map<ModelId, Model> models_;
  Shares shares_;
  std::unordered_map<RequestId, Service> services_;
  bool last_was_whole_ = false;
  Stats stats_;
};

}  // namespace lorekeep::scheduler
