#include "scheduler/step_builder.h"

#include <algorithm>

namespace lorekeep::scheduler {

namespace {

/// The time limit makes no chunk smaller than this, so that every step with a prompt makes progress.
constexpr std::uint32_t kSmallestChunk = 8;

/// Chunks are planned for these shares of the time limit at least and at most. Between them, the latest surprise is
/// kept free: on some machines one step in sixty takes 20 ms longer than expected, on others none.
constexpr double kMinPlanned = 0.5;
constexpr double kMaxPlanned = 0.7;

class StepBuilder {
 public:
  explicit StepBuilder(const StepPlan& plan) : plan_(plan), room_(plan.limits.n_batch) {
    built_.step.model = plan.model;
  }

  BuiltStep build(const std::vector<ClassWork>& work) {
    std::vector<const ClassWork*> by_class;
    for (const ClassWork& each : work) by_class.push_back(&each);
    std::sort(by_class.begin(), by_class.end(),
              [](const auto* a, const auto* b) { return a->consumer_class < b->consumer_class; });
    const bool prompts = std::any_of(work.begin(), work.end(), [](const auto& each) { return !each.prompts.empty(); });
    const std::uint32_t most = most_decodes(prompts);
    for (const ClassWork* each : by_class) add_decodes(*each, most);
    for (const ClassWork& each : work) add_prompts(each);
    return std::move(built_);
  }

 private:
  /// A batch full of decodes leaves room for prompts.
  std::uint32_t most_decodes(bool prompts) const {
    const std::uint32_t most = std::min(plan_.limits.max_decodes, plan_.limits.n_batch);
    if (!prompts) return most;
    if (plan_.limits.n_batch == 1) return plan_.prompts_first ? 0 : 1;
    const std::uint32_t kept =
        plan_.limits.chunk_grid > 0 ? grid() : std::min(kSmallestChunk, plan_.limits.n_batch / 2);
    return std::min(most, plan_.limits.n_batch - kept);
  }

  void add_decodes(const ClassWork& work, std::uint32_t most) {
    Step& step = built_.step;
    // Of the first interactive class, all run that the device allows. Others run as far as the time limit allows. At
    // least one runs.
    const bool first = step.decodes.empty() && interactive(work.consumer_class);
    const double most_ms = first ? plan_.limits.most_step_ms : plan_.limit_ms.value_or(0);
    bool any = false;
    for (const Request* request : work.decodes) {
      const auto count = static_cast<std::uint32_t>(step.decodes.size());
      if (count >= most) return;
      if (most_ms > 0 && any && plan_.costs.decode_ms(count + 1) > most_ms) return;
      step.decodes.push_back(request->id);
      ++step.decode_tokens[index_of(work.consumer_class)];
      --room_;
      any = true;
    }
  }

  void add_prompts(const ClassWork& work) {
    for (const Request* request : work.prompts) {
      if (room_ == 0) return;
      const std::uint32_t tokens =
          plan_.limits.whole_prompts ? whole(*request, work.consumer_class) : chunk(*request, work.consumer_class);
      if (tokens == 0) continue;
      Step& step = built_.step;
      step.prefills.push_back({request->id, tokens, request->position});
      step.prefill_tokens[index_of(work.consumer_class)] += tokens;
      planned_.add(tokens, request->position);
      room_ -= std::min(room_, tokens);
    }
  }

  /// The whole prompt, if it is the first of the step or joins the others within the class's quantum and the time
  /// limit.
  std::uint32_t whole(const Request& request, ConsumerClass consumer_class) const {
    const std::uint32_t left = request.prompt_left;
    if (built_.step.empty()) return left;
    if (left > room_ || planned_.tokens + left > quantum(consumer_class)) return 0;
    PromptWork both = planned_;
    both.add(left, request.position);
    return !plan_.limit_ms || plan_.costs.prefill_ms(both) <= *plan_.limit_ms ? left : 0;
  }

  std::uint32_t quantum(ConsumerClass consumer_class) const {
    return chunk_tokens(plan_.settings, consumer_class, plan_.competing, plan_.limits.n_batch);
  }

  std::uint32_t chunk(const Request& request, ConsumerClass consumer_class) {
    if (plan_.limits.chunk_grid > 0) return grid_chunk(request);
    const std::uint32_t most = std::min({quantum(consumer_class), request.prompt_left, room_});
    const std::uint32_t tokens = within_limit(most, request.position);
    if (tokens < most) ++built_.chunks_cut;
    return without_tail(tokens, most, request.prompt_left);
  }

  /// The chunk up to the next border of the grid, or 0 if the step has no room for it.
  std::uint32_t grid_chunk(const Request& request) const {
    const std::uint32_t tokens = std::min(request.prompt_left, grid() - request.position % grid());
    return tokens <= room_ ? tokens : 0;
  }

  /// At most half a batch, so that decodes find room.
  std::uint32_t grid() const { return std::min(plan_.limits.chunk_grid, std::max(plan_.limits.n_batch / 2, 1u)); }

  std::uint32_t within_limit(std::uint32_t most, std::uint32_t position) const {
    if (!plan_.limit_ms) return most;
    const double limit = *plan_.limit_ms;
    const double planned = std::clamp(limit - plan_.costs.surprise_ms(), kMinPlanned * limit, kMaxPlanned * limit);
    const double left = planned - plan_.costs.decode_ms(static_cast<std::uint32_t>(built_.step.decodes.size()));
    const std::uint32_t tokens = plan_.costs.tokens_within(left, planned_, position, most);
    if (tokens >= std::min(kSmallestChunk, most)) return tokens;
    return built_.step.prefills.empty() ? std::min(kSmallestChunk, most) : 0;
  }

  /// Leaves no last token for a step of its own: it would be computed by another kernel, with other rounding.
  static std::uint32_t without_tail(std::uint32_t tokens, std::uint32_t most, std::uint32_t left) {
    if (tokens < 2 || left - tokens != 1) return tokens;
    return tokens < most ? tokens + 1 : tokens - 1;
  }

  const StepPlan& plan_;
  std::uint32_t room_;
  PromptWork planned_;
  BuiltStep built_;
};

}  // namespace

BuiltStep build_step(const StepPlan& plan, const std::vector<ClassWork>& work) {
  return StepBuilder(plan).build(work);
}

}  // namespace lorekeep::scheduler
