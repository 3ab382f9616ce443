#include "lm/session/model_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/threads/step_watch.h"
#include "core/values/error.h"
#include "core/values/wipe.h"
#include "lm/session/session_request.h"
#include "lm/text/tokens.h"
#include "scheduler/shared_prefix.h"

namespace lorekeep::lm {
namespace {

// Times that a request is computed again because the cache had no cell for it.
constexpr int kMaxRequeues = 3;

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
