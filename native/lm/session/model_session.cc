#include "lm/session/model_session.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "core/threads/step_watch.h"
#include "core/values/error.h"
#include "core/values/wipe.h"
#include "lm/sampling/prompt_lookup.h"
#include "lm/session/session_request.h"
#include "lm/text/tokens.h"
#include "scheduler/shared_prefix.h"

namespace lorekeep::lm {
namespace {

// Times that a request is computed again because the cache had no cell for it.
constexpr int kMaxRequeues = 3;
// Work of constraints (lm/grammar/allowance.h): for each token of a step, so that a mask that is known takes no extra
// step, and for all of them.
constexpr std::uint64_t kTokenWork = 32'768;
// Requests whose constraints have taken up to twice as much as another one's are treated alike.
constexpr std::uint64_t kWorkGrain = 16'384;
// A step is aborted for cancelled chunks of prompts with at least this many tokens, and most of the step.
constexpr std::size_t kWorthAborting = 8;

// A model that was probed at loading fails on a GPU because of the GPU.
std::exception_ptr as_device_loss(std::exception_ptr error, const std::string& device) {
  std::string reason = "unknown";
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    if (known.code() == Code::kDeviceLost) return error;
    reason = known.what();
  } catch (const std::exception& other) {
    reason = other.what();
  } catch (...) {
  }
  return std::make_exception_ptr(Error(Code::kDeviceLost, device + " failed: " + reason, {{"device", device}}));
}

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

ModelSession::ModelSession(scheduler::ModelId id, std::unique_ptr<GenerationContext> context)
    : id_(id), model_(context->shared_model()), cache_(std::move(context)) {}

ModelSession::~ModelSession() = default;

scheduler::ModelLimits ModelSession::limits() const noexcept {
  scheduler::ModelLimits limits;
  limits.n_batch = cache_.context().batch_size();
  limits.max_decodes = GenerationContext::kMaxOutputs;
  limits.chunk_grid = model_->options().deterministic ? SequenceCache::kGrid : 0;
  limits.most_step_ms = model_->on_gpu() ? scheduler::kPlannedGpuStepMs : 0;
  return limits;
}

SessionNumbers ModelSession::numbers() const {
  SessionNumbers numbers;
  numbers.cells = cache_.cells().capacity();
  numbers.cells_used = cache_.cells().used();
  numbers.cells_reserved = cache_.cells().reserved();
  numbers.sequences_kept = cache_.idle();
  for (const auto& running : requests_) ++(running->sequence < 0 ? numbers.queued : numbers.sequences_running);
  numbers.prompt_tokens = prompt_tokens_;
  numbers.prompt_tokens_cached = cached_tokens_;
  numbers.parked = parked_;
  return numbers;
}

std::uint32_t ModelSession::forget(const QuotedTexts& texts) {
  const auto unwanted = [&](std::span<const Token> tokens) {
    std::string text;
    text.reserve(tokens.size() * 8);
    for (const Token token : tokens) model_->tokens().append_piece(token, text);
    const bool found = texts.within(text);
    wipe_bytes(text.data(), text.size());
    return found;
  };
  std::uint32_t running = 0;
  for (const auto& one : requests_) {
    if (one->input.pin || !unwanted(one->tokens)) continue;
    ++running;
    one->forgotten = true;
    wipe_bytes(one->parked.data(), one->parked.size());
    one->parked = {};
    one->parked_tokens = 0;
  }
  return running + cache_.evict(unwanted);
}

void ModelSession::count_requests(scheduler::Report& report) const noexcept {
  for (const auto& running : requests_) {
    const std::size_t of_class = scheduler::index_of(running->input.consumer_class);
    ++(running->sequence < 0 ? report.queued : report.running)[of_class];
  }
}

// Cells that a request may need. The last token of a reply is never computed.
std::uint32_t ModelSession::most_tokens(const GenerationInput& input) const noexcept {
  const std::uint64_t wanted = input.prompt.size() + std::uint64_t{input.max_tokens};
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, model_->facts().context_size));
}

void ModelSession::enqueue(scheduler::RequestId id, std::shared_ptr<GenerationRequest> request, GenerationInput input) {
  try {
    if (broken_) std::rethrow_exception(broken_);
    if (input.prompt.empty()) lorekeep::fail(Code::kInvalidArgument, "the prompt is empty");
    const std::uint32_t most = model_->facts().context_size;
    if (input.prompt.size() + (input.max_tokens > 0 ? 1 : 0) > most) {
      lorekeep::fail(
          Code::kTextTooLong,
          "the prompt has " + std::to_string(input.prompt.size()) + " tokens; a context of " + std::to_string(most) +
              " has room for " + std::to_string(most - 1) + " and a reply",
          {{"tokens", static_cast<std::int64_t>(input.prompt.size())}, {"limit", static_cast<std::int64_t>(most - 1)}});
    }
    request->set_seed(input.seed);
    auto running = std::make_unique<SessionRequest>(id, request, std::move(input));
    running->limit = most_tokens(running->input);
    request->set_numbers(running->numbers);
    requests_.push_back(std::move(running));
  } catch (...) {
    request->fail(std::current_exception());
  }
}

void ModelSession::reap(Clock::time_point now) {
  for (auto at = requests_.begin(); at != requests_.end();) {
    SessionRequest& running = **at;
    if (!running.request->ended() && running.expired(now)) {
      running.finish(Finish::kDeadline);
    }
    if (!running.request->ended()) {
      ++at;
      continue;
    }
    try {
      cache_.keep(running);
    } catch (...) {  // out of memory: the cache may know its text in part
      return recover(std::current_exception());
    }
    at = requests_.erase(at);
  }
  end_waits();
}

std::optional<Clock::time_point> ModelSession::next_deadline() const {
  std::optional<Clock::time_point> earliest;
  for (const auto& running : requests_) {
    if (running->input.deadline && (!earliest || *running->input.deadline < *earliest))
      earliest = running->input.deadline;
  }
  return earliest;
}

void ModelSession::collect(std::vector<scheduler::Request>& states, Clock::time_point epoch, Which which) const {
  for (const auto& running : requests_) {
    if (running->request->ended() || running->constrained()) continue;
    if (which == Which::kAdmissible && running->waits) continue;
    scheduler::Request state;
    state.id = running->id;
    state.model = id_;
    state.consumer_class = running->input.consumer_class;
    state.arrived_ms = milliseconds(running->request->arrived - epoch);
    state.position = running->computed;
    state.prompt_left = running->decoding() ? 0 : running->left();
    state.admitted = running->sequence >= 0;
    state.waits = running->waits;
    states.push_back(state);
  }
}

bool ModelSession::admit(scheduler::RequestId id, Clock::time_point now) {
  try {
    return try_to_admit(id, now);
  } catch (...) {  // saving or restoring a state failed
    recover(std::current_exception());
    return false;
  }
}

bool ModelSession::try_to_admit(scheduler::RequestId id, Clock::time_point now) {
  SessionRequest* running = find(id);
  if (running == nullptr || running->request->ended()) return false;
  if (wait_for_leader(*running)) return false;
  while (!cache_.place(*running)) {
    if (park_worse_than(*running)) continue;
    const bool alone =
        std::none_of(requests_.begin(), requests_.end(), [](const auto& other) { return other->sequence >= 0; });
    if (alone) refuse(*running);
    return false;
  }
  running->admit(now);
  return true;
}

// Moves the state of the youngest request of the worst class to main memory, if that class is worse than the given
// one's.
bool ModelSession::park_worse_than(const SessionRequest& running) {
  SessionRequest* worst = nullptr;
  for (const auto& other : requests_) {
    if (other->sequence < 0 || other->request->ended()) continue;
    if (other->input.consumer_class <= running.input.consumer_class) continue;
    if (worst == nullptr || other->input.consumer_class >= worst->input.consumer_class) worst = other.get();
  }
  if (worst == nullptr) return false;
  cache_.park(*worst);
  ++parked_;
  return true;
}

void ModelSession::refuse(SessionRequest& running) {
  const std::uint32_t room = cache_.cells().available();
  running.request->fail(std::make_exception_ptr(
      Error(Code::kOutOfMemory,
            "the request needs " + std::to_string(running.limit) + " cells of the KV cache; " + std::to_string(room) +
                " of " + std::to_string(cache_.cells().capacity()) +
                " are not used by pinned prefixes. Lower maxTokens, close prefixes, or load with more kvCells",
            {{"cells", static_cast<std::int64_t>(running.limit)}, {"free", static_cast<std::int64_t>(room)}})));
}

bool ModelSession::lacks_room(scheduler::RequestId id) const {
  const SessionRequest* running = find(id);
  return running != nullptr && !running->request->ended() && running->sequence < 0 && !running->waits;
}

// Finds the running prompt with the longest common prefix that is not computed yet.
// Until it is computed, the request holds no cells, which would be more than it needs in the end.
bool ModelSession::wait_for_leader(SessionRequest& running) {
  if (!cache_.partial_reuse()) return false;
  std::vector<scheduler::RunningPrompt> prompts;
  for (const auto& other : requests_) {
    if (other->id < running.id && other->sequence >= 0 && !other->request->ended())
      prompts.push_back({other->id, other->input.prompt, other->computed});
  }
  running.waits = scheduler::prefix_to_wait_for(running.tokens, cache_.known_tokens(running), prompts);
  return running.waits.has_value();
}

// Lets requests be admitted whose leader has computed the common prefix, or will not.
void ModelSession::end_waits() {
  for (const auto& running : requests_) {
    if (!running->waits || running->request->ended()) continue;
    const SessionRequest* leader = find(running->waits->leader);
    if (leader != nullptr && !leader->request->ended() && leader->sequence >= 0 &&
        leader->computed < running->waits->until_position)
      continue;
    running->waits.reset();
  }
}

SessionRequest* ModelSession::find(scheduler::RequestId id) const {
  const auto found = std::find_if(requests_.begin(), requests_.end(), [id](const auto& one) { return one->id == id; });
  return found == requests_.end() ? nullptr : found->get();
}

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

void ModelSession::throttle(const scheduler::Settings& settings, double level) {
  if (broken_) return;
  const LanguageModelOptions& options = model_->options();
  cache_.context().use_threads(scheduler::threads_at(settings, options.threads, level),
                               scheduler::threads_at(settings, options.batch_threads, level));
}

std::uint32_t ModelSession::threads() const noexcept {
  return broken_ ? 0 : cache_.context().threads();
}

scheduler::ThreadReason ModelSession::thread_reason() const noexcept {
  return broken_ ? scheduler::ThreadReason::kAll : cache_.context().thread_reason();
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

// Queues a request again, to be computed from its first token. Fails it if that happens too often.
void ModelSession::requeue(SessionRequest& running) {
  cache_.take_away(running);
  if (++running.requeues <= kMaxRequeues) return;
  running.request->fail(std::make_exception_ptr(Error(Code::kInternal, "the KV cache has no cell for the request")));
}

SavedPrefix ModelSession::save(const PinnedPrefix& prefix) {
  return cache_.save(prefix);
}

void ModelSession::restore(const std::shared_ptr<PinnedPrefix>& prefix, PrefixTree::Entry entry,
                           std::span<const std::byte> state) {
  cache_.restore(prefix, entry, state);
}

void ModelSession::count_pause(double ms) {
  for (const auto& running : requests_) {
    if (running->sequence >= 0) running->numbers.paused_ms += ms;
  }
}

void ModelSession::fail_all(std::exception_ptr error) {
  for (const auto& running : requests_) running->request->fail(error);
}

void ModelSession::cancel_all() {
  for (const auto& running : requests_) running->request->cancel();
}

// After a failure in the middle of a computation, the context may be in any state.
void ModelSession::recover(std::exception_ptr error) {
  if (model_->on_gpu()) error = as_device_loss(error, model_->facts().device);
  fail_all(error);
  requests_.clear();
  cache_.close();
  if (model_->on_gpu()) {  // its weights may be lost, too
    broken_ = error;
    return;
  }
  const ExemptPart exempt(Exempt::kModelLoad);
  try {
    cache_.open(GenerationContext::make(model_));
  } catch (...) {
    broken_ = std::current_exception();
  }
}

}  // namespace lorekeep::lm
