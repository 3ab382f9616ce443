// Random steps, a million in the long form: arrivals, cancels, parking, shared prefixes, several models and changing
// settings. After every step the scheduler's promises are checked against what the simulation knows.
#include <algorithm>
#include <map>
#include <random>

#include "harness.h"
#include "scheduler/scheduler.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;
using enum ConsumerClass;

constexpr int kStepsPerWorld = 2'000;

/// A ready request waits at most this many steps of its model's batches and neighbours: see check_starvation().
constexpr std::uint64_t kLongestWaitSteps = 4'000;

struct Simulated {
  Request request;
  std::uint32_t decodes_left;
  std::uint64_t ready_since = 0;  // the step in which it was ready and was not served since
};

class World {
 public:
  explicit World(std::mt19937_64& random) : random_(random) {
    configure();
    models_ = static_cast<ModelId>(1 + below(3));
    for (ModelId model = 0; model < models_; ++model) {
      static const std::vector<std::uint32_t> kBatches = {1, 2, 3, 17, 64, 65, 256, 512, 2048};
      limits_.push_back({.n_batch = kBatches[below(kBatches.size())],
                         .max_decodes = static_cast<std::uint32_t>(1 + below(16)),
                         .chunk_grid = chance(15) ? 64u : 0u});
      scheduler_.set_model(model, limits_.back());
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      arrive();
      if (chance(3)) cancel();
      if (chance(1)) configure();
      admit();
      step();
    }
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }

  void configure() {
    SettingsInput input;
    input.enabled = !chance(10);
    input.prefill_yield_enabled = !chance(10);
    if (chance(30)) input.prefill_quantum_tokens = static_cast<std::uint32_t>(1 + below(600));
    for (auto& block : input.classes) {
      if (!chance(30)) continue;
      block.emplace();
      if (chance(50)) block->prefill_quantum_tokens = static_cast<std::uint32_t>(1 + below(600));
      if (chance(50)) block->contention_scaling = chance(50);
    }
    if (chance(60)) input.step_target_ms = chance(50) ? 0 : static_cast<double>(below(200));
    settings_ = complete(input);
    scheduler_.configure(settings_);
    for (Simulated& each : live_) each.ready_since = steps_;
  }

  void arrive() {
    if (live_.size() >= 24 || !chance(12)) return;
    Simulated each;
    each.request.id = ++last_id_;
    each.request.model = static_cast<ModelId>(below(models_));
    each.request.consumer_class = static_cast<ConsumerClass>(below(kConsumerClasses));
    each.request.arrived_ms = now_ms_;
    each.request.prompt_left = static_cast<std::uint32_t>(1 + below(chance(20) ? 4000 : 300));
    each.request.admitted = false;
    if (chance(30) && !live_.empty()) {
      const Request& leader = live_[below(live_.size())].request;
      each.request.waits = PrefixWait{leader.id, static_cast<std::uint32_t>(below(600))};
    }
    each.decodes_left = static_cast<std::uint32_t>(1 + below(60));
    each.ready_since = steps_;
    live_.push_back(each);
  }

  void cancel() {
    if (live_.empty()) return;
    const auto victim = live_.begin() + static_cast<std::ptrdiff_t>(below(live_.size()));
    cancelled_.push_back(victim->request.id);
    live_.erase(victim);
  }

  std::vector<Request> requests() const {
    std::vector<Request> all;
    for (const Simulated& each : live_) all.push_back(each.request);
    return all;
  }

  /// Eight places, as cells would have it.
  void admit() {
    const auto admitted =
        std::count_if(live_.begin(), live_.end(), [](const auto& each) { return each.request.admitted; });
    if (admitted >= 8) return;
    const std::vector<Request> all = requests();
    if (const auto next = scheduler_.next_to_admit(all, now_ms_)) {
      CHECK(!live_[*next].request.admitted);
      live_[*next].request.admitted = true;
      live_[*next].ready_since = steps_;
    }
  }

  Simulated* find(RequestId id) {
    const auto place =
        std::find_if(live_.begin(), live_.end(), [&](const auto& each) { return each.request.id == id; });
    return place == live_.end() ? nullptr : &*place;
  }

  bool held(const Simulated& each) {
    const auto& waits = each.request.waits;
    if (!waits || each.request.prompt_left == 0) return false;
    const Simulated* leader = find(waits->leader);
    return leader != nullptr && leader->request.admitted && leader->request.prompt_left > 0 &&
           leader->request.position < waits->until_position;
  }

  void step() {
    ++steps_;
    std::vector<Request> all = requests();
    std::shuffle(all.begin(), all.end(), random_);
    const Step step = scheduler_.plan(all, now_ms_);
    const bool work =
        std::any_of(live_.begin(), live_.end(), [&](const auto& each) { return each.request.admitted && !held(each); });
    CHECK_EQ(step.empty(), !work);
    if (step.empty()) return;
    check(step);
    const double took =
        5 + static_cast<double>(step.decodes.size()) + 0.5 * step.tokens() + static_cast<double>(below(20));
    scheduler_.finish(step, took);
    now_ms_ += took;
    serve(step);
    check_starvation();
  }

  void check(const Step& step) {
    const ModelLimits& limits = limits_[step.model];
    CHECK(step.tokens() <= limits.n_batch);
    CHECK(step.decodes.size() <= limits.max_decodes);
    std::vector<RequestId> seen = step.decodes;
    for (const RequestId id : step.decodes) check_request(step, id, 0);
    for (const Prefill& prefill : step.prefills) {
      CHECK(prefill.tokens > 0);
      check_request(step, prefill.id, prefill.tokens);
      seen.push_back(prefill.id);
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
    CHECK(std::none_of(cancelled_.begin(), cancelled_.end(),
                       [&](RequestId id) { return std::binary_search(seen.begin(), seen.end(), id); }));
    for (const double level : {0.0, 0.3, 1.0}) check_pause(step, level);
    if (!settings_.enabled) CHECK_EQ(seen.size(), 1u);
  }

  void check_request(const Step& step, RequestId id, std::uint32_t tokens) {
    const Simulated* each = find(id);
    REQUIRE(each != nullptr);
    CHECK_EQ(each->request.model, step.model);
    CHECK(each->request.admitted);
    CHECK(!held(*each));
    CHECK_EQ(tokens == 0, each->request.prompt_left == 0);
    CHECK(tokens <= each->request.prompt_left);
    if (tokens > 0) check_chunk(step, each->request, tokens);
  }

  /// The quantum and, where only contention makes a chunk smaller, its floor.
  void check_chunk(const Step& step, const Request& request, std::uint32_t tokens) {
    const ModelLimits& limits = limits_[step.model];
    if (limits.chunk_grid > 0 && settings_.enabled) return;
    const bool leads = std::any_of(live_.begin(), live_.end(), [&](const auto& each) {
      return each.request.waits && each.request.waits->leader == request.id;
    });
    if (!leads && settings_.enabled && settings_.prefill_yield_enabled) {
      CHECK(tokens <= std::min(settings_.of(request.consumer_class).prefill_quantum_tokens, limits.n_batch));
    }
    const bool alone = step.prefills.size() == 1 && step.decodes.empty();
    if (alone && settings_.step_target_ms == 0 && !leads) {
      const std::uint32_t quantum =
          std::min(settings_.of(request.consumer_class).prefill_quantum_tokens, limits.n_batch);
      const std::uint32_t floor = std::min({kChunkFloor, quantum, request.prompt_left});
      CHECK(tokens + 1 >= floor);  // one less where a single token would be left
    }
    const std::uint32_t left = request.prompt_left - tokens;
    if (tokens > 2) CHECK(left != 1 || !settings_.enabled);
  }

  void check_pause(const Step& step, double level) {
    double shortest = settings_.enabled ? 1e9 : 0;
    const PerClass<bool> classes = step.classes();
    for (std::size_t i = 0; i < kConsumerClasses; ++i) {
      if (classes[i]) shortest = std::min(shortest, settings_.classes[i].max_pause_ms);
    }
    CHECK_NEAR(scheduler_.pause_after(step, level), level * shortest, 1e-9);
  }

  void serve(const Step& step) {
    for (const RequestId id : step.decodes) {
      Simulated& each = *find(id);
      each.ready_since = steps_;
      ++each.request.position;
      if (--each.decodes_left == 0) std::erase_if(live_, [&](const auto& other) { return other.request.id == id; });
    }
    for (const Prefill& prefill : step.prefills) {
      Simulated& each = *find(prefill.id);
      each.ready_since = steps_;
      each.request.position += prefill.tokens;
      each.request.prompt_left -= prefill.tokens;
    }
  }

  /// With eight admitted requests and a thirteenth of the time for the worst class, nobody waits longer. Without the
  /// scheduler, the oldest runs to its end.
  void check_starvation() {
    for (Simulated& each : live_) {
      if (!each.request.admitted || held(each) || !settings_.enabled) each.ready_since = steps_;
      if (steps_ - each.ready_since > kLongestWaitSteps) test::report_failure(__FILE__, __LINE__, "a request starves");
    }
  }

  std::mt19937_64& random_;
  Scheduler scheduler_;
  Settings settings_;
  ModelId models_ = 1;
  std::vector<ModelLimits> limits_;
  std::vector<Simulated> live_;
  std::vector<RequestId> cancelled_;
  RequestId last_id_ = 0;
  double now_ms_ = 0;
  std::uint64_t steps_ = 0;
};

TEST("over random steps, budgets, chunks, pauses, cancels and fairness hold") {
  std::mt19937_64 random(test::seed());
  const std::size_t worlds = test::repetitions(30, 500);
  for (std::size_t world = 0; world < worlds; ++world) World(random).run(kStepsPerWorld);
}

TEST("a background request gets at least a twentieth of the time beside endless better work") {
  Scheduler scheduler;
  scheduler.set_model(1, {});
  std::vector<Request> requests(3);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].id = i + 1;
    requests[i].model = 1;
    requests[i].consumer_class = static_cast<ConsumerClass>(i);
    requests[i].prompt_left = 1'000'000'000;
  }
  double total = 0;
  double background = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Step step = scheduler.plan(requests, total);
    const double took = 2.0 * step.tokens();
    background += 2.0 * step.prefill_tokens[index_of(kBackground)];
    total += took;
    scheduler.finish(step, took);
  }
  CHECK(background / total >= 0.05);
  CHECK(background / total <= 0.15);
}

}  // namespace
