// One request to generate text, and the text on its way to whoever asked.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/grammar/constraint.h"
#include "lm/sampling/sampling.h"
#include "lm/text/text_filter.h"
#include "lm/text/token.h"
#include "scheduler/consumer_class.h"

namespace lorekeep::lm {

// A computed prompt that stays in the KV cache while somebody holds this.
class PinnedPrefix {
 public:
  explicit PinnedPrefix(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const std::vector<Token>& tokens() const noexcept { return tokens_; }
  /// Allows the cache to evict it. Any thread.
  void release() noexcept { released_.store(true, std::memory_order_relaxed); }
  bool released() const noexcept { return released_.load(std::memory_order_relaxed); }

  /// Id of its entry in the cache, set by the inference thread; 0: none yet.
  std::uint64_t entry = 0;

 private:
  const std::vector<Token> tokens_;
  std::atomic<bool> released_{false};
};

using Clock = std::chrono::steady_clock;

enum class Finish { kStop, kStopString, kLength, kContext, kCancelled, kDeadline };

/// As in JavaScript, for example "stop_string".
std::string_view finish_name(Finish finish) noexcept;

struct GenerationInput {
  std::vector<Token> prompt;
  scheduler::ConsumerClass consumer_class = scheduler::ConsumerClass::kInteractiveVisible;
  /// Maximum number of tokens of the reply, thinking included. 0: only the prompt is computed.
  std::uint32_t max_tokens = kDefaultMaxTokens;
  /// Maximum number of tokens after thinking. Absent: what thinking leaves of max_tokens.
  std::optional<std::uint32_t> max_reply_tokens;
  SamplingOptions sampling;
  std::uint64_t seed = 0;
  TextFilterOptions text;
  std::shared_ptr<TokenConstraint> constraint;  // null: none
  /// Alternatives per token whose log-probabilities are returned; absent: none at all.
  std::optional<std::uint32_t> log_probabilities;
  std::optional<Clock::time_point> deadline;
  /// Whether a step may verify several tokens that an earlier part of the text suggests.
  bool drafts = true;
  /// Keeps the prompt in the cache; null: do not. With max_tokens 0.
  std::shared_ptr<PinnedPrefix> pin;

  static constexpr std::uint32_t kDefaultMaxTokens = 1024;
};

/// Numbers of a request, for its result. Times in ms.
struct GenerationNumbers {
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t computed_tokens = 0;  // of the prompt: all others, unless it ended before its first token
  std::uint32_t prefill_chunks = 0;
  std::uint32_t drafted_tokens = 0;
  std::uint32_t accepted_tokens = 0;  // of the drafted tokens
  double queued_ms = 0;
  double prefill_ms = 0;
  double first_ms = 0;  // from the request to its first token
  double decode_ms = 0;
  double longest_gap_ms = 0;           // between two tokens
  double paused_ms = 0;                // by the throttle
  std::uint32_t constraint_waits = 0;  // tokens for which it sat out steps, until its constraint had computed its mask
  double constraint_ms = 0;            // of these waits
};

/// Of one token: its own, then the alternatives.
using TokenLogProbabilities = std::vector<LogProbability>;

struct GenerationResult {
  Finish finish = Finish::kStop;
  std::string text;
  std::string thinking;
  std::vector<Token> tokens;
  std::vector<TokenLogProbabilities> log_probabilities;  // per token
  GenerationNumbers numbers;
  std::uint64_t seed = 0;
};

struct Piece {
  bool thinking;
  std::string text;
  /// Of tokens of the reply, in their order, if wanted. The text of the last ones may be in later pieces.
  std::vector<TokenLogProbabilities> log_probabilities = {};
};

/// The meeting point of the caller and the inference thread. Thread-safe.
class GenerationRequest {
 public:
  GenerationRequest() : arrived(Clock::now()) {}

  // The caller's side.

  /// Called on the inference thread, or inside cancel(), whenever there is something to take(); null: never again. When
  /// listen() returns, no earlier listener is running. A listener must not call this object.
  void listen(std::function<void(bool ended)> listener);
  /// Returns the text since the last call.
  std::vector<Piece> take();
  /// Ends the request at once with the text so far. The computation ends soon afterwards.
  void cancel() { end(Finish::kCancelled); }
  /// The prefix that the request keeps in the cache; null: none.
  void set_pin(std::shared_ptr<PinnedPrefix> pin);
  std::shared_ptr<PinnedPrefix> pin() const;
  /// Returns the result after the end. Throws the error that ended the request.
  GenerationResult result();

  // The inference thread's side. Everything after the end is ignored.

  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  /// `of_reply`: log-probabilities of tokens that turned out to be of the reply.
  void add(Token token, const FilteredText& text, TokenLogProbabilities log_probabilities,
           std::vector<TokenLogProbabilities> of_reply);
  /// Adds text that the filter held back.
  void add_text(const FilteredText& text, std::vector<TokenLogProbabilities> of_reply);
  void set_numbers(const GenerationNumbers& numbers);
  void set_seed(std::uint64_t seed);
  void end(Finish finish);
  void fail(std::exception_ptr error);

  const Clock::time_point arrived;

 private:
  void append(const FilteredText& text, std::vector<TokenLogProbabilities> of_reply);
  Piece& piece(bool thinking);
  void notify(bool ended);

  mutable std::mutex mutex_;
  std::function<void(bool)> listener_;
  std::vector<Piece> pieces_;
  GenerationResult result_;
  std::exception_ptr error_;
  std::shared_ptr<PinnedPrefix> pin_;
  std::atomic<bool> ended_{false};
  bool told_ = false;  // the listener was called since the last take()
};

}  // namespace lorekeep::lm
