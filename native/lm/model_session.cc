#include "lm/model_session.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/error.h"
#include "lm/prompt_lookup.h"
#include "lm/tokens.h"
#include "scheduler/shared_prefix.h"

namespace lorekeep::lm {
namespace {

// Times that a request is computed again because the cache had no cell for it.
constexpr int kMostRequeues = 3;
// A step is aborted for a cancelled prompt that is at least this long, and most of the step.
constexpr std::size_t kWorthAborting = 32;
// Chunks of deterministic models end at multiples of this position.
constexpr std::uint32_t kGrid = 64;

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

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

struct ModelSession::Running {
  Running(scheduler::RequestId number, std::shared_ptr<GenerationRequest> by, GenerationInput given)
      : id(number),
        request(std::move(by)),
        input(std::move(given)),
        sampler(input.sampling, input.seed),
        filter(input.text),
        tokens(input.prompt) {
    for (const Token token : tokens) sampler.accept(token);
    numbers.prompt_tokens = static_cast<std::uint32_t>(tokens.size());
  }

  std::uint32_t generated() const noexcept { return static_cast<std::uint32_t>(tokens.size() - input.prompt.size()); }
  std::uint32_t left() const noexcept { return static_cast<std::uint32_t>(tokens.size()) - computed; }
  bool decoding() const noexcept { return generated() > 0 && left() == 1; }
  bool expired(Clock::time_point now) const noexcept { return input.deadline && now >= *input.deadline; }

  const scheduler::RequestId id;
  const std::shared_ptr<GenerationRequest> request;
  GenerationInput input;
  Sampler sampler;
  TextFilter filter;
  std::vector<Token> tokens;   // the prompt, then the reply
  std::uint32_t computed = 0;  // tokens in the cache
  std::uint32_t limit = 0;     // tokens that may be computed
  std::int32_t sequence = -1;  // -1: queued
  int requeues = 0;
  std::vector<std::byte> parked;  // its state, while another request has its cells
  std::uint32_t parked_tokens = 0;
  std::optional<scheduler::PrefixWait> waits;
  GenerationNumbers numbers;
  Clock::time_point admitted_at;
  Clock::time_point last_token_at;
};

struct ModelSession::Part {
  Running* running;
  std::uint32_t tokens;
  bool output;
  std::size_t last_row = 0;
  std::vector<Token> draft;  // to be verified behind the last row
  std::size_t matched = 0;   // tokens by which the draft was found
  std::size_t accepted = 0;  // of the draft
};

ModelSession::ModelSession(scheduler::ModelId id, std::unique_ptr<GenerationContext> context)
    : id_(id), model_(context->shared_model()), context_(std::move(context)), ledger_(model_->options().kv_cells) {
  for (std::int32_t sequence = context_->sequences(); sequence-- > 0;) free_sequences_.push_back(sequence);
}

ModelSession::~ModelSession() = default;

scheduler::ModelLimits ModelSession::limits() const noexcept {
  scheduler::ModelLimits limits;
  limits.n_batch = context_->batch_size();
  limits.max_decodes = GenerationContext::kMostOutputs;
  limits.chunk_grid = model_->options().deterministic ? kGrid : 0;
  return limits;
}

SessionNumbers ModelSession::numbers() const {
  SessionNumbers numbers;
  numbers.cells = ledger_.capacity();
  numbers.cells_used = ledger_.used();
  numbers.cells_reserved = ledger_.reserved();
  numbers.sequences_kept = static_cast<std::uint32_t>(kept_.size());
  for (const auto& running : requests_) ++(running->sequence < 0 ? numbers.queued : numbers.sequences_running);
  numbers.prompt_tokens = prompt_tokens_;
  numbers.prompt_tokens_cached = cached_tokens_;
  return numbers;
}

bool ModelSession::partial_reuse() const noexcept {
  return model_->facts().memory == Memory::kAttention;
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
    auto running = std::make_unique<Running>(id, request, std::move(input));
    running->limit = most_tokens(running->input);
    requests_.push_back(std::move(running));
  } catch (...) {
    request->fail(std::current_exception());
  }
}

void ModelSession::reap(Clock::time_point now) {
  for (auto at = requests_.begin(); at != requests_.end();) {
    Running& running = **at;
    if (!running.request->ended() && running.expired(now)) {
      publish(running);
      running.request->add_text(running.filter.finish());
      running.request->end(Finish::kDeadline);
    }
    if (!running.request->ended()) {
      ++at;
      continue;
    }
    try {
      keep(running);
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
    if (running->request->ended() || (which == Which::kAdmissible && running->waits)) continue;
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
  Running* running = find(id);
  if (running == nullptr || running->request->ended()) return false;
  if (wait_for_leader(*running)) return false;
  while (!place(*running)) {
    if (park_worse_than(*running)) continue;
    const bool alone =
        std::none_of(requests_.begin(), requests_.end(), [](const auto& other) { return other->sequence >= 0; });
    if (alone) refuse(*running);
    return false;
  }
  const bool first = running->numbers.queued_ms == 0;
  if (first) {
    running->admitted_at = now;
    running->numbers.queued_ms = milliseconds(now - running->request->arrived);
    running->numbers.cached_tokens = running->computed;
  }
  return true;
}

// Gives a request a sequence with the cells that it may need; changes nothing but the cache if there is no room.
bool ModelSession::place(Running& running) {
  const std::optional<std::int32_t> sequence = take_sequence();
  if (!sequence) return false;
  running.sequence = *sequence;
  if (running.parked.empty() || !resume(running)) attach(running);
  if (make_room(running.limit - running.computed)) {
    ledger_.reserve(running.sequence, running.limit);
    running.parked = {};
    return true;
  }
  release_sequence(std::exchange(running.sequence, -1));
  running.computed = 0;
  return false;
}

// Restores the state of a parked request. Without it, its tokens are computed again.
bool ModelSession::resume(Running& running) {
  if (!make_room(running.limit)) return false;
  if (!context_->restore(running.sequence, running.parked, static_cast<std::int32_t>(running.parked_tokens)))
    return false;
  ledger_.extend(running.sequence, running.parked_tokens);
  running.computed = running.parked_tokens;
  return true;
}

// Moves the state of the youngest request of the worst class to main memory, if that class is worse than the given
// one's.
bool ModelSession::park_worse_than(const Running& running) {
  Running* worst = nullptr;
  for (const auto& other : requests_) {
    if (other->sequence < 0 || other->request->ended()) continue;
    if (other->input.consumer_class <= running.input.consumer_class) continue;
    if (worst == nullptr || other->input.consumer_class >= worst->input.consumer_class) worst = other.get();
  }
  if (worst == nullptr) return false;
  if (worst->computed > 0) {
    worst->parked = context_->save(worst->sequence);
    worst->parked_tokens = worst->computed;
  }
  take_away(*worst);
  return true;
}

void ModelSession::refuse(Running& running) {
  const std::uint32_t room = ledger_.available();
  running.request->fail(std::make_exception_ptr(
      Error(Code::kOutOfMemory,
            "the request needs " + std::to_string(running.limit) + " cells of the KV cache; " + std::to_string(room) +
                " of " + std::to_string(ledger_.capacity()) +
                " are free beside pinned prefixes. Lower maxTokens, close prefixes, or load with more kvCells",
            {{"cells", static_cast<std::int64_t>(running.limit)}, {"free", static_cast<std::int64_t>(room)}})));
}

bool ModelSession::lacks_room(scheduler::RequestId id) const {
  const Running* running = find(id);
  return running != nullptr && !running->request->ended() && running->sequence < 0 && !running->waits;
}

// Shares the longest prefix that some sequence has. At least one token stays to be computed: it gives the logits.
void ModelSession::attach(Running& running) {
  const std::span<const Token> reusable = std::span(running.tokens).first(running.tokens.size() - 1);
  PrefixTree::Match match = partial_reuse() ? tree_.longest(reusable) : tree_.longest_whole(reusable);
  if (model_->options().deterministic && partial_reuse()) match.tokens -= match.tokens % kGrid;
  if (match.tokens <= running.computed) return;
  if (running.computed > 0) {
    if (!context_->remove(running.sequence, -1)) return;
    ledger_.truncate(running.sequence, 0);
  }
  const std::int32_t from = sequence_of(match.entry);
  context_->share(from, running.sequence, partial_reuse() ? static_cast<std::int32_t>(match.tokens) : -1);
  ledger_.share(from, running.sequence, static_cast<std::uint32_t>(match.tokens));
  running.computed = static_cast<std::uint32_t>(match.tokens);
}

// Finds the running prompt with the longest common prefix that is not computed yet.
// Until it is computed, the request holds no cells, which would be more than it needs in the end.
bool ModelSession::wait_for_leader(Running& running) {
  if (!partial_reuse()) return false;
  std::vector<scheduler::RunningPrompt> prompts;
  for (const auto& other : requests_) {
    if (other->id < running.id && other->sequence >= 0 && !other->request->ended())
      prompts.push_back({other->id, other->input.prompt, other->computed});
  }
  const std::size_t known = tree_.longest(std::span(running.tokens).first(running.tokens.size() - 1)).tokens;
  running.waits = scheduler::prefix_to_wait_for(running.tokens, static_cast<std::uint32_t>(known), prompts);
  return running.waits.has_value();
}

// Lets requests be admitted whose leader has computed the common prefix, or will not.
void ModelSession::end_waits() {
  for (const auto& running : requests_) {
    if (!running->waits || running->request->ended()) continue;
    const Running* leader = find(running->waits->leader);
    if (leader != nullptr && !leader->request->ended() && leader->sequence >= 0 &&
        leader->computed < running->waits->until_position)
      continue;
    running->waits.reset();
  }
}

// Evicts idle prefixes until so many cells are free.
bool ModelSession::make_room(std::uint32_t cells) {
  while (ledger_.available() < cells) {
    if (!evict_one()) return false;
  }
  return true;
}

std::optional<std::int32_t> ModelSession::take_sequence() {
  if (free_sequences_.empty() && !evict_one()) return std::nullopt;
  const std::int32_t sequence = free_sequences_.back();
  free_sequences_.pop_back();
  return sequence;
}

bool ModelSession::evict_one() {
  auto oldest = kept_.end();
  for (auto at = kept_.begin(); at != kept_.end(); ++at) {
    if (at->second.pinned()) continue;
    if (oldest == kept_.end() || at->second.last_use < oldest->second.last_use) oldest = at;
  }
  if (oldest == kept_.end()) return false;
  tree_.erase(oldest->first);
  release_sequence(oldest->second.sequence);
  kept_.erase(oldest);
  return true;
}

std::int32_t ModelSession::sequence_of(PrefixTree::Entry entry) {
  const auto kept = kept_.find(entry);
  if (kept == kept_.end()) return find(entry)->sequence;
  kept->second.last_use = ++uses_;
  return kept->second.sequence;
}

void ModelSession::release_sequence(std::int32_t sequence) {
  context_->remove(sequence, -1);
  ledger_.release(sequence);
  free_sequences_.push_back(sequence);
}

ModelSession::Running* ModelSession::find(scheduler::RequestId id) const {
  const auto found = std::find_if(requests_.begin(), requests_.end(), [id](const auto& one) { return one->id == id; });
  return found == requests_.end() ? nullptr : found->get();
}

std::vector<ModelSession::Part> ModelSession::parts_of(const scheduler::Step& step) {
  std::vector<Part> parts;
  std::size_t outputs = 0;
  std::size_t rows = 0;
  const auto add = [&](scheduler::RequestId id, std::uint32_t tokens) {
    Running* running = find(id);
    if (running == nullptr || running->sequence < 0 || running->request->ended()) return;
    const std::uint32_t count = std::min({tokens, running->left(), context_->batch_size()});
    const bool output = count == running->left();
    if (count == 0 || rows + count > context_->batch_size()) return;
    if (output && outputs == GenerationContext::kMostOutputs) return;
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
  const Running& running = *part.running;
  if (!running.input.drafts || !partial_reuse() || model_->options().deterministic) return;
  const std::size_t room =
      std::min<std::size_t>({kMostDrafts, running.limit - running.tokens.size(),
                             running.input.max_tokens - running.generated() - 1, context_->batch_size() - 1});
  const Lookup found = look_up(running.tokens, room);
  part.matched = found.matched;
  const auto draft = found.next.first(drafts_.length(found.matched, found.next.size()));
  part.draft.assign(draft.begin(), draft.end());
}

void ModelSession::throttle(const scheduler::Settings& settings, double level) {
  if (!context_) return;
  const LanguageModelOptions& options = model_->options();
  context_->use_threads(scheduler::threads_at(settings, options.threads, level),
                        scheduler::threads_at(settings, options.batch_threads, level));
}

std::uint32_t ModelSession::threads() const noexcept {
  return context_ ? context_->threads() : 0;
}

// Returns whether all of it was computed.
bool ModelSession::compute(std::span<Part> parts) {
  std::vector<GenerationContext::Row> rows;
  for (Part& part : parts) {
    const Running& running = *part.running;
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
  // Polled between two operations: stops if nobody waits for the result, or if most of the work is for nobody.
  const auto unwanted = [parts, total = rows.size(), partial = partial_reuse()] {
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
  const GenerationContext::Status status = context_->decode(rows, unwanted);
  if (status == GenerationContext::Status::kAborted) {
    if (partial_reuse()) return false;  // the next step computes the others again
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
    if (!evict_one()) requeue(*parts.back().running);
    return false;
  }
  const Clock::time_point now = Clock::now();
  for (Part& part : parts) advance(part, now);
  return true;
}

void ModelSession::extend(Running& running, std::uint32_t tokens) {
  ledger_.extend(running.sequence, tokens);
  running.computed += tokens;
}

void ModelSession::advance(Part& part, Clock::time_point now) {
  if (!part.draft.empty()) return verify(part, now);
  Running& running = *part.running;
  const bool prompt = running.generated() == 0;
  extend(running, part.tokens);
  if (prompt) ++running.numbers.prefill_chunks;
  if (prompt && partial_reuse()) tree_.set(running.id, reusable(running));
  if (!part.output || running.request->ended()) return;
  if (prompt) {
    running.numbers.prefill_ms = milliseconds(now - running.admitted_at);
    prompt_tokens_ += running.numbers.prompt_tokens;
    cached_tokens_ += running.numbers.cached_tokens;
  }
  if (running.input.max_tokens == 0) return finish(running, Finish::kLength);
  sample(running, part.last_row, now);
}

// Samples behind each row as long as the draft agrees, as steps of one row would, and forgets the rows behind.
void ModelSession::verify(Part& part, Clock::time_point now) {
  Running& running = *part.running;
  running.numbers.drafted_tokens += static_cast<std::uint32_t>(part.draft.size());
  extend(running, 1);
  if (!running.request->ended()) sample(running, part.last_row, now);
  while (part.accepted < part.draft.size() && !running.request->ended() &&
         running.tokens.back() == part.draft[part.accepted]) {
    ++part.accepted;
    ++running.numbers.accepted_tokens;
    extend(running, 1);
    sample(running, part.last_row + part.accepted, now);
  }
  context_->remove(running.sequence, static_cast<std::int32_t>(running.computed));
  drafts_.learn_drafts(part.matched, part.draft.size(), part.accepted);
}

// An error of the request, as a grammar that became too ambiguous, ends this request only.
void ModelSession::sample(Running& running, std::size_t row, Clock::time_point now) {
  const std::span<float> logits = context_->logits(row);
  try {
    std::vector<float> raw;
    if (running.input.log_probabilities) raw.assign(logits.begin(), logits.end());
    TokenConstraint* constraint = running.input.constraint.get();
    const Token token = running.sampler.sample(logits, constraint);
    if (token == Sampler::kNone) return finish(running, Finish::kStop);  // the constraint allows nothing more
    running.sampler.accept(token);
    if (constraint != nullptr) constraint->accept(token);
    std::vector<LogProbability> log_probabilities;
    if (!raw.empty()) log_probabilities = lm::log_probabilities(raw, token, *running.input.log_probabilities);
    take_token(running, token, std::move(log_probabilities), now);
  } catch (const Error&) {
    running.request->fail(std::current_exception());
  }
}

void ModelSession::take_token(Running& running, Token token, std::vector<LogProbability> log_probabilities,
                              Clock::time_point now) {
  GenerationNumbers& numbers = running.numbers;
  if (running.generated() == 0) {
    numbers.first_ms = milliseconds(now - running.request->arrived);
  } else {
    const double gap = milliseconds(now - running.last_token_at);
    numbers.longest_gap_ms = std::max(numbers.longest_gap_ms, gap);
    numbers.decode_ms += gap;
  }
  running.last_token_at = now;
  if (model_->tokens().ends(token)) return finish(running, Finish::kStop);
  running.tokens.push_back(token);
  std::string bytes;
  model_->tokens().append_piece(token, bytes);
  const FilteredText text = running.filter.push(bytes);
  running.request->add(token, text, std::move(log_probabilities));
  if (text.stopped) return finish(running, Finish::kStopString);
  if (running.generated() >= running.input.max_tokens) return finish(running, Finish::kLength);
  if (running.tokens.size() > running.limit) return finish(running, Finish::kContext);
  publish(running);
}

void ModelSession::publish(Running& running) {
  running.request->set_numbers(running.numbers);
}

void ModelSession::finish(Running& running, Finish finish) {
  running.request->add_text(running.filter.finish());
  publish(running);
  running.request->end(finish);
}

// Keeps the sequence of a request that ended, because a later prompt may begin with the same tokens.
void ModelSession::keep(Running& running) {
  if (running.sequence < 0) return;
  if (running.computed == 0 || ledger_.length(running.sequence) != running.computed) {
    tree_.erase(running.id);
    release_sequence(std::exchange(running.sequence, -1));
    return;
  }
  ledger_.reserve(running.sequence, 0);
  tree_.set(running.id, reusable(running));
  if (running.input.pin) running.input.pin->entry = running.id;
  kept_[running.id] = {std::exchange(running.sequence, -1), ++uses_, running.input.pin};
}

// The computed tokens that other requests may share. Deterministic models share whole chunks of prompts only: tokens
// computed one by one, or in other chunks, have other last bits.
std::span<const Token> ModelSession::reusable(const Running& running) const {
  std::size_t count = running.computed;
  if (model_->options().deterministic && partial_reuse()) {
    count = std::min(count, running.input.prompt.size());
    count -= count % kGrid;
  }
  return std::span(running.tokens).first(count);
}

// Takes the sequence of a request away. It is queued again.
void ModelSession::take_away(Running& running) {
  tree_.erase(running.id);
  release_sequence(std::exchange(running.sequence, -1));
  running.computed = 0;
  running.waits.reset();
}

// Queues a request again, to be computed from its first token. Fails it if that happens too often.
void ModelSession::requeue(Running& running) {
  take_away(running);
  if (++running.requeues <= kMostRequeues) return;
  running.request->fail(std::make_exception_ptr(Error(Code::kInternal, "the KV cache has no cell for the request")));
}

SavedPrefix ModelSession::save(const PinnedPrefix& prefix) {
  const auto kept = kept_.find(prefix.entry);
  if (kept == kept_.end()) lorekeep::fail(Code::kInternal, "the prefix is no longer in the cache");
  return {prefix.tokens(), context_->save(kept->second.sequence)};
}

void ModelSession::restore(const std::shared_ptr<PinnedPrefix>& prefix, PrefixTree::Entry entry,
                           std::span<const std::byte> state) {
  const auto tokens = static_cast<std::uint32_t>(prefix->tokens().size());
  const std::optional<std::int32_t> sequence = make_room(tokens) ? take_sequence() : std::nullopt;
  if (!sequence) {
    lorekeep::fail(Code::kOutOfMemory, "the prefix needs " + std::to_string(tokens) + " cells of the KV cache, and " +
                                           std::to_string(ledger_.available()) + " of " +
                                           std::to_string(ledger_.capacity()) + " are free");
  }
  if (!context_->restore(*sequence, state, static_cast<std::int32_t>(tokens))) {
    free_sequences_.push_back(*sequence);
    lorekeep::fail(Code::kCorrupt, "the runtime does not accept the state");
  }
  ledger_.extend(*sequence, tokens);
  tree_.set(entry, prefix->tokens());
  prefix->entry = entry;
  kept_[entry] = {*sequence, ++uses_, prefix};
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
  kept_.clear();
  tree_.clear();
  ledger_ = CellLedger(ledger_.capacity());
  free_sequences_.clear();
  context_.reset();
  if (model_->on_gpu()) {  // its weights may be lost, too
    broken_ = error;
    return;
  }
  try {
    context_ = GenerationContext::make(model_);
    for (std::int32_t sequence = context_->sequences(); sequence-- > 0;) free_sequences_.push_back(sequence);
  } catch (...) {
    broken_ = std::current_exception();
  }
}

}  // namespace lorekeep::lm
