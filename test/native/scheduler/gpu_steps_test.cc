// Steps on a device that other programs draw with: hardly any takes longer than kMaxGpuStepMs, whatever the device,
// the depth of the contexts and the number of streams, although single steps take longer than expected.
#include <random>
#include <string>
#include <vector>

#include "harness.h"
#include "scheduler/scheduler.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;
using enum ConsumerClass;

constexpr ModelId kGpuModel = 1;
constexpr int kGpuSteps = 20'000;
constexpr int kStreams = 24;

/// One step in sixty takes 1.3 times as long as the others.
constexpr std::uint64_t kOneIn = 60;
constexpr double kSurprise = 1.3;
/// All steps scatter by this share.
constexpr double kNoise = 0.03;

struct Device {
  const char* name;
  double launch_ms;       // of any step
  double stream_ms;       // per token that is decoded
  double token_ms;        // per token of a prompt
  double doubling_depth;  // where tokens of a prompt take twice as long
};

constexpr Device kDevices[] = {
    {"fast", 4, 0.05, 0.08, 16'384},
    {"integrated", 25, 1, 2, 4'096},
    {"slow", 50, 3, 5, 8'192},
    {"expensive streams", 10, 12, 1, 16'384},
};

class GpuWorld {
 public:
  GpuWorld(const Device& device, const SettingsInput& settings, std::mt19937_64& random)
      : device_(device), random_(random) {
    scheduler_.configure(complete(settings));
    scheduler_.set_model(kGpuModel, {.n_batch = 2048, .most_step_ms = kPlannedGpuStepMs});
    for (RequestId id = 1; id <= kStreams; ++id) requests_.push_back(fresh(id));
  }

  /// Returns how many steps take longer than kMaxGpuStepMs, without the first one, whose costs are not known.
  int too_long_of(int steps) {
    int too_long = 0;
    for (int i = 0; i < steps; ++i) {
      const Step step = scheduler_.plan(active(), now_ms_);
      const double took = took_ms(step);
      if (i > 0 && took > kMaxGpuStepMs) ++too_long;
      scheduler_.finish(step, took);
      now_ms_ += took;
      serve(step);
    }
    return too_long;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  Request fresh(RequestId id) {
    Request request;
    request.id = id;
    request.model = kGpuModel;
    request.consumer_class = static_cast<ConsumerClass>(below(kConsumerClasses));
    request.arrived_ms = now_ms_;
    request.prompt_left = static_cast<std::uint32_t>(1 + below(below(4) == 0 ? 8000 : 400));
    return request;
  }

  /// Their number rises and falls, so that batches of every size occur.
  std::vector<Request> active() {
    const auto count = static_cast<std::ptrdiff_t>(1 + (turn_++ / 400) % kStreams);
    return {requests_.begin(), requests_.begin() + count};
  }

  double took_ms(const Step& step) {
    double ms = device_.launch_ms + device_.stream_ms * static_cast<double>(step.decodes.size());
    for (const Prefill& each : step.prefills) {
      const double depth = each.position + each.tokens / 2.0;
      ms += each.tokens * device_.token_ms * (1 + depth / device_.doubling_depth);
    }
    std::uniform_real_distribution<double> noise(1 - kNoise, 1 + kNoise);
    return ms * noise(random_) * (below(kOneIn) == 0 ? kSurprise : 1);
  }

  void serve(const Step& step) {
    for (const RequestId id : step.decodes) {
      Request& request = requests_[id - 1];
      ++request.position;
      if (below(200) == 0) request = fresh(id);
    }
    for (const Prefill& each : step.prefills) {
      Request& request = requests_[each.id - 1];
      request.position += each.tokens;
      request.prompt_left -= each.tokens;
    }
  }

  const Device& device_;
  std::mt19937_64& random_;
  Scheduler scheduler_;
  std::vector<Request> requests_;
  double now_ms_ = 0;
  int turn_ = 0;
};

TEST("hardly any step on a GPU exceeds its longest time, although single steps take 1.3 times as long as expected") {
  constexpr int kMaxTooLong = 2;  // in 20,000; of 24 million steps with 100 seeds 21 were
  std::mt19937_64 random(test::seed());
  SettingsInput whole_prompts;
  whole_prompts.prefill_yield_enabled = false;
  SettingsInput no_target;
  no_target.step_target_ms = 0;
  for (const Device& device : kDevices) {
    for (const SettingsInput& settings : {SettingsInput{}, whole_prompts, no_target}) {
      const int too_long = GpuWorld(device, settings, random).too_long_of(kGpuSteps);
      if (too_long > kMaxTooLong)
        test::report_failure(__FILE__, __LINE__, std::string(device.name) + ": " + std::to_string(too_long));
      CHECK(too_long <= kMaxTooLong);
    }
  }
}

}  // namespace
