#include "scheduler/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/step_builder.h"

namespace lorekeep::scheduler {

namespace {

/// The default step target: readers perceive such a stream as even (docs/internals/inference.md).
constexpr double kTargetSteps = 3;
constexpr double kTargetMs = 50;

/// After this wait a request is treated as one of a better class.
constexpr double kAdmissionAgeMs = 10'000;

ConsumerClass better(ConsumerClass a, ConsumerClass b) {
  return std::min(a, b);
}

/// Returns the place of a request in candidates that are sorted by id; their end if it is not there.
template <class Candidates>
auto find(Candidates& candidates, RequestId id) {
  const auto place = std::lower_bound(candidates.begin(), candidates.end(), id,
                                      [](const auto& each, RequestId wanted) { return each.request->id < wanted; });
  return place != candidates.end() && place->request->id == id ? place : candidates.end();
}

}  // namespace

void Scheduler::set_model(ModelId model, ModelLimits limits) {
  models_[model].limits = limits;
}

void Scheduler::remove_model(ModelId model) {
  models_.erase(model);
  shares_.remove(model);
}

Step Scheduler::plan(std::span<const Request> requests, double now_ms) {
  const std::vector<Candidate> all = candidates(requests);
  track(all, now_ms);
  const std::vector<Group> active = groups(all);
  if (active.empty()) return {};
  const Group turn = choose(active);
  const bool whole = models_.at(turn.first).limits.whole_prompts;
  Step step = settings_.enabled || whole ? shared_step(all, turn) : first_come(all);
  last_was_whole_ = whole;
  record(step, all, now_ms);
  return step;
}

std::vector<Scheduler::Candidate> Scheduler::candidates(std::span<const Request> requests) const {
  std::vector<Candidate> all;
  all.reserve(requests.size());
  for (const Request& request : requests) all.push_back({&request, request.consumer_class, false});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.request->id < b.request->id; });
  // From the youngest on, so that a class passes along a row of prompts that wait for each other.
  for (auto waiting = all.rbegin(); waiting != all.rend(); ++waiting) {
    const auto& waits = waiting->request->waits;
    if (!waits || waiting->request->prompt_left == 0 || waits->leader >= waiting->request->id) continue;
    const auto leader = find(all, waits->leader);
    if (leader == all.end() || !leader->request->admitted) continue;
    if (leader->request->prompt_left == 0 || leader->request->position >= waits->until_position) continue;
    waiting->held = true;
    leader->consumer_class = better(leader->consumer_class, waiting->consumer_class);
  }
  return all;
}

void Scheduler::track(const std::vector<Candidate>& candidates, double now_ms) {
  for (auto& [id, service] : services_) service.seen = false;
  for (const Candidate& each : candidates) {
    const auto [entry, added] = services_.try_emplace(each.request->id);
    entry->second.seen = true;
    if (added || each.held || !each.request->admitted) entry->second.at_ms = now_ms;
  }
  std::erase_if(services_, [](const auto& entry) { return !entry.second.seen; });
}

std::vector<Group> Scheduler::groups(const std::vector<Candidate>& candidates) const {
  std::vector<Group> active;
  for (const Candidate& each : candidates) {
    const Group group{each.request->model, each.consumer_class};
    if (each.ready() && std::find(active.begin(), active.end(), group) == active.end()) active.push_back(group);
  }
  return active;
}

Group Scheduler::choose(const std::vector<Group>& active) {
  const Group turn = shares_.next(active);
  if (last_was_whole_) return turn;
  // A query's embedding waits for one step at most.
  const auto query = std::find_if(active.begin(), active.end(), [&](const Group& group) {
    return group.second == ConsumerClass::kInteractiveVisible && models_.at(group.first).limits.whole_prompts;
  });
  return query == active.end() ? turn : *query;
}

Step Scheduler::shared_step(const std::vector<Candidate>& candidates, Group turn) {
  const Model& model = models_.at(turn.first);
  std::vector<ClassWork> work{{turn.second, {}, {}}};
  for (std::size_t i = 0; i < index_of(turn.second); ++i) work.push_back({static_cast<ConsumerClass>(i), {}, {}});
  std::uint32_t competing = 0;
  for (const Candidate& each : candidates) {
    const Request& request = *each.request;
    if (request.model != turn.first) continue;
    if (request.prompt_left > 0 && !each.held) ++competing;
    const auto place = std::find_if(work.begin(), work.end(),
                                    [&](const auto& entry) { return entry.consumer_class == each.consumer_class; });
    if (!each.ready() || place == work.end()) continue;
    (request.prompt_left > 0 ? place->prompts : place->decodes).push_back(&request);
  }
  const auto least_recent = [&](const Request* a, const Request* b) {
    return services_.at(a->id).step < services_.at(b->id).step;
  };
  for (ClassWork& each : work) {
    std::stable_sort(each.decodes.begin(), each.decodes.end(), least_recent);
    // Without yielding, the oldest prompt continues.
    if (settings_.prefill_yield_enabled) std::stable_sort(each.prompts.begin(), each.prompts.end(), least_recent);
  }
  const bool decodes = std::any_of(work.begin(), work.end(), [](const auto& each) { return !each.decodes.empty(); });
  if (model.decodes_lost && decodes) {
    for (ClassWork& each : work) each.prompts.clear();
  }
  const bool prompts_first = stats_.steps % 2 == 1;
  std::optional<double> limit_ms = step_limit_ms(candidates);
  const double most = model.limits.most_step_ms;
  if (most > 0) limit_ms = std::min(limit_ms.value_or(most), most);
  const StepPlan plan{turn.first, model.limits, settings_, model.costs, limit_ms, competing, prompts_first};
  BuiltStep built = build_step(plan, work);
  stats_.chunks_cut += built.chunks_cut;
  return std::move(built.step);
}

std::optional<double> Scheduler::step_limit_ms(const std::vector<Candidate>& candidates) const {
  if (!settings_.prefill_yield_enabled || !settings_.enabled || settings_.step_target_ms == 0) return std::nullopt;
  std::map<Group, std::uint32_t> streams;
  for (const Candidate& each : candidates) {
    const bool streams_now = each.ready() && each.request->prompt_left == 0 && interactive(each.consumer_class);
    if (streams_now) ++streams[{each.request->model, each.consumer_class}];
  }
  if (streams.empty()) return std::nullopt;
  if (settings_.step_target_ms) return settings_.step_target_ms;
  double step = std::numeric_limits<double>::infinity();
  for (const auto& [group, count] : streams) step = std::min(step, models_.at(group.first).costs.decode_ms(count));
  return kTargetSteps * step + kTargetMs;
}

Step Scheduler::first_come(const std::vector<Candidate>& candidates) const {
  const Candidate* oldest = nullptr;
  for (const Candidate& each : candidates) {
    const bool runs = each.ready() && !models_.at(each.request->model).limits.whole_prompts;
    if (runs && (oldest == nullptr || each.request->arrived_ms < oldest->request->arrived_ms)) oldest = &each;
  }
  Step step;
  const Request& request = *oldest->request;
  step.model = request.model;
  if (request.prompt_left == 0) {
    step.decodes.push_back(request.id);
    ++step.decode_tokens[index_of(request.consumer_class)];
    return step;
  }
  const std::uint32_t tokens = std::min(request.prompt_left, models_.at(request.model).limits.n_batch);
  step.prefills.push_back({request.id, tokens, request.position});
  step.prefill_tokens[index_of(request.consumer_class)] += tokens;
  return step;
}

void Scheduler::record(const Step& step, const std::vector<Candidate>& candidates, double now_ms) {
  ++stats_.steps;
  const auto serve = [&](RequestId id) {
    Service& service = services_.at(id);
    double& longest = stats_.longest_wait_ms[index_of(find(candidates, id)->request->consumer_class)];
    longest = std::max(longest, now_ms - service.at_ms);
    service.step = stats_.steps;
    service.at_ms = now_ms;
  };
  for (const RequestId id : step.decodes) serve(id);
  for (const Prefill& prefill : step.prefills) serve(prefill.id);
}

void Scheduler::finish(const Step& step, double took_ms, bool aborted) {
  stats_.busy_ms += took_ms;
  stats_.longest_step_ms = std::max(stats_.longest_step_ms, took_ms);
  for (std::size_t i = 0; i < kConsumerClasses && !aborted; ++i) {
    stats_.decode_tokens[i] += step.decode_tokens[i] + (step.decode_tokens[i] > 0 ? step.draft_tokens : 0);
    stats_.prefill_tokens[i] += step.prefill_tokens[i];
  }
  const auto model = models_.find(step.model);
  if (model == models_.end() || step.empty()) return;
  PromptWork prompts;
  for (const Prefill& prefill : step.prefills) prompts.add(prefill.tokens, prefill.position);
  if (!step.decodes.empty()) model->second.decodes_lost = aborted && !step.prefills.empty();
  const bool usual = !aborted && step.draft_rows == 0;
  if (usual) model->second.costs.learn(static_cast<std::uint32_t>(step.decodes.size()), prompts, took_ms);
  charge(step, prompts, model->second.costs, took_ms);
}

void Scheduler::charge(const Step& step, const PromptWork& prompts, const Costs& costs, double took_ms) {
  PerClass<double> part{};
  double total = 0;
  std::uint32_t decodes = 0;
  const double each_prompt_token = prompts.tokens == 0 ? 0 : costs.prefill_ms(prompts) / prompts.tokens;
  for (std::size_t i = 0; i < kConsumerClasses; ++i) {
    // A class pays the time that its decodes add to the decodes of better classes.
    const double before = costs.decode_ms(decodes);
    decodes += step.decode_tokens[i];
    part[i] = std::max(costs.decode_ms(decodes) - before, 0.0) + step.prefill_tokens[i] * each_prompt_token;
    total += part[i];
  }
  for (std::size_t i = 0; i < kConsumerClasses; ++i) {
    const double tokens = step.decode_tokens[i] + step.prefill_tokens[i];
    const double share = total > 0 ? part[i] / total : tokens / step.tokens();
    if (tokens > 0) shares_.charge({step.model, static_cast<ConsumerClass>(i)}, took_ms * share);
  }
}

double Scheduler::pause_after(const Step& step, double level) const noexcept {
  return pause_ms(settings_, step.classes(), level);
}

std::optional<std::size_t> Scheduler::next_to_admit(std::span<const Request> requests, double now_ms) const {
  std::optional<std::size_t> best;
  const auto rank = [&](const Request& request) {
    if (!settings_.enabled) return 0.0;
    return static_cast<double>(index_of(request.consumer_class)) -
           std::floor((now_ms - request.arrived_ms) / kAdmissionAgeMs);
  };
  const auto before = [&](const Request& a, const Request& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (a.arrived_ms != b.arrived_ms) return a.arrived_ms < b.arrived_ms;
    return a.id < b.id;
  };
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].admitted && (!best || before(requests[i], requests[*best]))) best = i;
  }
  return best;
}

}  // namespace lorekeep::scheduler
