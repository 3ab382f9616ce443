// One model on the inference thread: its cache and its requests. Used by that thread only. Internal to native/lm.
#pragma once

#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lm/sampling/draft_policy.h"
#include "lm/session/generation_request.h"
#include "lm/session/sequence_cache.h"
#include "lm/session/session_numbers.h"
#include "lm/session/session_request.h"
#include "lm/text/quoted_texts.h"
#include "scheduler/control.h"
#include "scheduler/scheduler.h"

namespace lorekeep::lm {

/// Work of constraints (lm/grammar/allowance.h) between two steps of the models: some milliseconds.
inline constexpr std::uint64_t kStepWork = 262'144;

class ModelSession {
 public:
  ModelSession(scheduler::ModelId id, std::unique_ptr<GenerationContext> context);
  ~ModelSession();
  ModelSession(const ModelSession&) = delete;
  ModelSession& operator=(const ModelSession&) = delete;

  scheduler::ModelId id() const noexcept { return id_; }
  scheduler::ModelLimits limits() const noexcept;
  SessionNumbers numbers() const;
  /// Adds its requests to `running` and `queued`.
  void count_requests(scheduler::Report& report) const noexcept;
  PrefixParts prefixes() const { return cache_.prefixes(Clock::now()); }
  /// Evicts the idle sequences that spell one of the texts, but not pinned ones. Requests under way that do are not
  /// kept at their end, and those that are parked are computed again. Returns the number of all of them.
  std::uint32_t forget(const QuotedTexts& texts);

  /// Queues a request. Ends it with an error if it can never run.
  void enqueue(scheduler::RequestId id, std::shared_ptr<GenerationRequest> request, GenerationInput input);
  /// Removes requests that ended, and ends those past their deadline.
  void reap(Clock::time_point now);
  /// Returns the earliest deadline.
  std::optional<Clock::time_point> next_deadline() const;
  bool idle() const noexcept { return requests_.empty(); }

  enum class Which { kAll, kAdmissible };

  /// Appends the states of all requests, or of all that do not wait for another one's prefix.
  void collect(std::vector<scheduler::Request>& states, Clock::time_point epoch, Which which) const;
  /// Gives a queued request a sequence and reserves its cells, evicting idle prefixes and parking running requests of
  /// worse classes if necessary. Returns false if it must wait for running requests, for their cells or their prefix;
  /// ends it with an error if it waits for none.
  bool admit(scheduler::RequestId id, Clock::time_point now);
  /// Returns whether the request waits for cells.
  bool lacks_room(scheduler::RequestId id) const;
  /// Computes a step. Returns whether all of it was computed: requests that end meanwhile can abort it. `alone`: no
  /// other request is there, so that the step may verify drafts, which it counts in `step`.
  bool run(scheduler::Step& step, bool alone);
  /// Whether a request waits for the mask of its constraint.
  bool constrained() const noexcept;
  /// Computes masks for requests that wait, until no work is left. Returns the class that it worked for last; absent:
  /// no request waits. A request that has taken little work for its token comes first.
  std::optional<scheduler::ConsumerClass> constrain(Allowance& work);
  /// Sets how many threads compute the steps that follow, by the level of the throttle.
  void throttle(const scheduler::Settings& settings, double level);
  /// Returns how many threads the last step could use.
  std::uint32_t threads() const noexcept;
  scheduler::ThreadReason thread_reason() const noexcept;
  /// Adds a pause to the numbers of the decoding requests.
  void count_pause(double ms);
  /// Fails every request.
  void fail_all(std::exception_ptr error);
  void cancel_all();

  /// Returns a pinned prefix with its state. Throws Error(kInternal) if the cache lost it.
  SavedPrefix save(const PinnedPrefix& prefix);
  /// Puts a saved prefix into the cache, pinned. Throws Error(kOutOfMemory), Error(kCorrupt).
  void restore(const std::shared_ptr<PinnedPrefix>& prefix, PrefixTree::Entry entry, std::span<const std::byte> state);

 private:
  struct Part;  // of a step: the rows of one request
  using RequestList = std::list<std::unique_ptr<SessionRequest>>;

  bool try_to_admit(scheduler::RequestId id, Clock::time_point now);
  SessionRequest* find(scheduler::RequestId id) const;
  std::uint32_t most_tokens(const GenerationInput& input) const noexcept;
  bool park_worse_than(const SessionRequest& running);
  bool wait_for_leader(SessionRequest& running);
  void end_waits();

  std::vector<Part> parts_of(const scheduler::Step& step);
  bool compute(std::span<Part> parts);
  void suggest(Part& part);
  void advance(Part& part, Clock::time_point now);
  void verify(Part& part, Clock::time_point now);
  void sample(SessionRequest& running, std::size_t row, Clock::time_point now);
  SessionRequest* next_constrained();
  void requeue(SessionRequest& running);
  void refuse(SessionRequest& running);
  void recover(std::exception_ptr error);

  const scheduler::ModelId id_;
  std::shared_ptr<const LanguageModel> model_;
  SequenceCache cache_;
  RequestList requests_;  // oldest first
  std::uint64_t prompt_tokens_ = 0;
  std::uint64_t cached_tokens_ = 0;
  std::uint64_t parked_ = 0;
  DraftPolicy drafts_;
  Allowance step_work_{0};  // left for constraints in the current step
  scheduler::RequestId last_constrained_ = 0;
  std::exception_ptr broken_;  // the context could not be made again
};

}  // namespace lorekeep::lm
