// The steps of a model: what is computed, sampled and verified in each.
#include <algorithm>
#include <bit>
#include <utility>

#include "core/threads/step_watch.h"
#include "lm/sampling/prompt_lookup.h"
#include "lm/session/model_session.h"
#include "lm/session/session_request.h"

namespace lorekeep::lm {
namespace {

// Work of constraints (lm/grammar/allowance.h): for each token of a step, so that a mask that is known takes no extra
// step, and for all of them.
constexpr std::uint64_t kTokenWork = 32'768;
// Requests whose constraints have taken up to twice as much as another one's are treated alike.
constexpr std::uint64_t kWorkGrain = 16'384;
// A step is aborted for cancelled chunks of prompts with at least this many tokens, and most of the step.
constexpr std::size_t kWorthAborting = 8;

}  // namespace

struct ModelSession::Part {
  SessionRequest* running;
  std::uint32_t tokens;
  bool output;
  std::size_t last_row = 0;
  std::vector<Token> draft;  // to be verified behind the last row
  std::size_t matched = 0;   // tokens by which the draft was found
  std::size_t accepted = 0;  // of the draft
};

std::vector<ModelSession::Part> ModelSession::parts_of(const scheduler::Step& step) {
  std::vector<Part> parts;
  std::size_t outputs = 0;
  std::size_t rows = 0;
  const auto add = [&](scheduler::RequestId id, std::uint32_t tokens) {
    SessionRequest* running = find(id);
    if (running == nullptr || running->sequence < 0 || running->request->ended()) return;
    const std::uint32_t count = std::min({tokens, running->left(), cache_.context().batch_size()});
    const bool output = count == running->left();
    if (count == 0 || rows + count > cache_.context().batch_size()) return;
    if (output && outputs == GenerationContext::kMaxOutputs) return;
    outputs += output ? 1 : 0;
    rows += count;
    parts.push_back({running, count, output});
  };
  for (const scheduler::RequestId id : step.decodes) add(id, 1);
  for (const scheduler::Prefill& prefill : step.prefills) add(prefill.id, prefill.tokens);
  return parts;
}

bool ModelSession::run(scheduler::Step& step, bool alone) {
  std::vector<Part> parts = parts_of(step);
  if (parts.empty()) return false;
  step_work_ = Allowance(kStepWork);
  const bool one_row = parts.size() == 1 && parts.front().running->decoding();
  if (alone && one_row) suggest(parts.front());
  const Clock::time_point begin = Clock::now();
  bool complete = true;
  try {
    if (model_->options().deterministic) {
      for (Part& part : parts) complete = compute({&part, 1}) && complete;
    } else {
      complete = compute(parts);
    }
  } catch (...) {
    recover(std::current_exception());
    return false;
  }
  const Part& first = parts.front();
  if (complete && one_row) drafts_.learn_step(1 + first.draft.size(), milliseconds(Clock::now() - begin));
  step.draft_rows = static_cast<std::uint32_t>(first.draft.size());
  step.draft_tokens = static_cast<std::uint32_t>(first.accepted);
  end_waits();
  return complete;
}

// Adds tokens that an earlier part of the text suggests to a step of one token.
void ModelSession::suggest(Part& part) {
  const SessionRequest& running = *part.running;
  if (!running.input.drafts || !cache_.partial_reuse() || model_->options().deterministic) return;
  const std::size_t room =
      std::min<std::size_t>({kMaxDrafts, running.limit - running.tokens.size(),
                             running.input.max_tokens - running.generated() - 1, cache_.context().batch_size() - 1});
  const NamedPart named("drafts");
  const Lookup found = look_up(running.tokens, room);
  part.matched = found.matched;
  const auto draft = found.next.first(drafts_.length(found.matched, found.next.size()));
  part.draft.assign(draft.begin(), draft.end());
}

// Returns whether all of it was computed.
bool ModelSession::compute(std::span<Part> parts) {
  std::vector<GenerationContext::Row> rows;
  for (Part& part : parts) {
    SessionRequest& running = *part.running;
    if (running.generated() == 0) {
      ++running.numbers.prefill_chunks;
      running.request->set_numbers(running.numbers);  // so that a cancelled request knows, too
    }
    for (std::uint32_t i = 0; i < part.tokens; ++i) {
      const std::uint32_t at = running.computed + i;
      const bool output = part.output && i + 1 == part.tokens;
      rows.push_back({running.tokens[at], static_cast<std::int32_t>(at), running.sequence, output});
    }
    part.last_row = rows.size() - 1;
    for (const Token token : part.draft) {
      const auto at = static_cast<std::int32_t>(running.computed + part.tokens + rows.size() - 1 - part.last_row);
      rows.push_back({token, at, running.sequence, true});
    }
  }
  // Polled between two operations: stops if no request waits for the result, or if most of the work is for cancelled
  // ones.
  const auto unwanted = [parts, total = rows.size(), partial = cache_.partial_reuse()] {
    const Clock::time_point now = Clock::now();
    std::size_t lost = 0;
    std::size_t prompt = 0;
    for (const Part& part : parts) {
      if (!part.running->request->ended() && !part.running->expired(now)) continue;
      lost += part.tokens + part.draft.size();
      if (part.tokens > 1) prompt += part.tokens;
    }
    return lost == total || (partial && prompt >= kWorthAborting && 2 * prompt > total);
  };
  const GenerationContext::Status status = [&] {
    const ExemptPart exempt(Exempt::kModelStep);
    return cache_.context().decode(rows, unwanted);
  }();
  if (status == GenerationContext::Status::kAborted) {
    if (cache_.partial_reuse()) return false;  // the next step computes the others again
    for (const Part& part : parts) {
      part.running->computed = 0;  // its state is lost
      if (!part.running->request->ended()) requeue(*part.running);
    }
    return false;
  }
  if (status == GenerationContext::Status::kNoCells && !parts.back().draft.empty()) {
    parts.back().draft.clear();
    return compute(parts);
  }
  if (status == GenerationContext::Status::kNoCells) {
    if (!cache_.evict_one()) requeue(*parts.back().running);
    return false;
  }
  const Clock::time_point now = Clock::now();
  for (Part& part : parts) advance(part, now);
  return true;
}

void ModelSession::advance(Part& part, Clock::time_point now) {
  if (!part.draft.empty()) return verify(part, now);
  SessionRequest& running = *part.running;
  const bool prompt = running.generated() == 0;
  cache_.extend(running, part.tokens);
  if (prompt) {
    running.count_prefill(now);
    running.request->set_numbers(running.numbers);
  }
  if (!part.output || running.request->ended()) return;
  if (prompt) {
    prompt_tokens_ += running.numbers.prompt_tokens;
    cached_tokens_ += running.numbers.cached_tokens;
  }
  if (running.input.max_tokens == 0) return running.finish(Finish::kLength);
  sample(running, part.last_row, now);
}

void ModelSession::sample(SessionRequest& running, std::size_t row, Clock::time_point now) {
  Allowance work(std::min(kTokenWork, step_work_.left()));
  running.sample(cache_.context().logits(row), model_->tokens(), work, now);
  step_work_.spend(work.spent());
}

bool ModelSession::constrained() const noexcept {
  return std::any_of(requests_.begin(), requests_.end(),
                     [](const auto& one) { return one->constrained() && !one->request->ended(); });
}

// The one with the least work for its token, in steps of doubled work and of better classes; of several, the one that
// worked last: another one would need memory for its states, too.
SessionRequest* ModelSession::next_constrained() {
  SessionRequest* best = nullptr;
  std::size_t best_rank = 0;
  for (const auto& one : requests_) {
    if (!one->constrained() || one->request->ended()) continue;
    const auto doublings = static_cast<std::size_t>(std::bit_width(one->constraint_work() / kWorkGrain));
    const std::size_t rank =
        2 * (doublings + scheduler::index_of(one->input.consumer_class)) + (one->id == last_constrained_ ? 0 : 1);
    if (best != nullptr && rank >= best_rank) continue;
    best = one.get();
    best_rank = rank;
  }
  return best;
}

std::optional<scheduler::ConsumerClass> ModelSession::constrain(Allowance& work) {
  std::optional<scheduler::ConsumerClass> served;
  while (!work.over()) {
    SessionRequest* const next = next_constrained();
    if (next == nullptr) break;
    last_constrained_ = next->id;
    served = next->input.consumer_class;
    Allowance part(std::min(work.left(), kTokenWork));
    try {
      next->continue_sampling(model_->tokens(), part);
    } catch (...) {  // out of memory
      next->request->fail(std::current_exception());
    }
    work.spend(std::max<std::uint64_t>(part.spent(), 1));
  }
  return served;
}

// Samples after each row as long as the draft agrees, as steps of one row would, and forgets the remaining rows.
void ModelSession::verify(Part& part, Clock::time_point now) {
  SessionRequest& running = *part.running;
  running.numbers.drafted_tokens += static_cast<std::uint32_t>(part.draft.size());
  cache_.extend(running, 1);
  if (!running.request->ended()) sample(running, part.last_row, now);
  while (part.accepted < part.draft.size() && !running.request->ended() && !running.constrained() &&
         running.tokens.back() == part.draft[part.accepted]) {
    ++part.accepted;
    ++running.numbers.accepted_tokens;
    cache_.extend(running, 1);
    sample(running, part.last_row + part.accepted, now);
  }
  cache_.context().remove(running.sequence, static_cast<std::int32_t>(running.computed));
  drafts_.learn_drafts(part.matched, part.draft.size(), part.accepted);
}

}  // namespace lorekeep::lm
