// A request of a model's session, queued or running. Used by the inference thread only. Internal to native/lm.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lm/session/generation_request.h"
#include "scheduler/request.h"

namespace lorekeep::lm {

class Tokens;

inline double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

struct SessionRequest {
  SessionRequest(scheduler::RequestId number, std::shared_ptr<GenerationRequest> by, GenerationInput given)
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

  /// Chooses the next token by the logits after the last one, which it changes, and adds it to the reply. If no work is
  /// left for the constraint, it keeps the logits and waits for continue_sampling(). An error, as of a grammar that
  /// became too ambiguous, ends this request only.
  void sample(std::span<float> logits, const Tokens& vocabulary, Allowance& work, Clock::time_point now);
  void continue_sampling(const Tokens& vocabulary, Allowance& work);
  /// Whether it waits for the mask of its constraint. It has no row to compute then.
  bool constrained() const noexcept { return !held_logits_.empty(); }
  /// Work of its constraint for the next token so far.
  std::uint64_t constraint_work() const noexcept { return constraint_work_; }
  /// Publishes the numbers and ends the reply.
  void finish(Finish finish);
  /// Notes that it has cells. Only the first time counts.
  void admit(Clock::time_point now);
  /// Counts the work on a prompt that has no token of the reply yet.
  void count_prefill(Clock::time_point now);

  const scheduler::RequestId id;
  const std::shared_ptr<GenerationRequest> request;
  GenerationInput input;
  Sampler sampler;
  TextFilter filter;
  std::vector<Token> tokens;   // the prompt, then the reply
  std::uint32_t replied = 0;   // tokens of the reply, without thinking
  std::uint32_t computed = 0;  // tokens in the cache
  std::uint32_t limit = 0;     // tokens that may be computed
  std::int32_t sequence = -1;  // -1: queued
  int requeues = 0;
  std::vector<std::byte> parked;  // its state, while another request has its cells
  std::uint32_t parked_tokens = 0;
  bool forgotten = false;  // its sequence is not kept at its end
  std::optional<scheduler::PrefixWait> waits;
  GenerationNumbers numbers;
  std::optional<Clock::time_point> admitted_at;  // for the first time
  Clock::time_point last_token_at;

 private:
  void choose(std::span<float> logits, const Tokens& vocabulary, Allowance& work, Clock::time_point now);
  void add(Token token, std::vector<LogProbability> log_probabilities, const Tokens& vocabulary, Clock::time_point now);

  /// Takes the log-probabilities of the tokens that turned out to be of the reply since the last call; drops those of
  /// thinking.
  std::vector<TokenLogProbabilities> decided();

  std::vector<TokenLogProbabilities> undecided_;  // of tokens that may still become part of a tag of thinking
  std::vector<float> raw_logits_;                 // of the next token, if its log-probabilities are wanted
  std::vector<float> held_logits_;                // of the next token, which waits for its mask
  Clock::time_point held_at_;
  std::uint64_t constraint_work_ = 0;
};

}  // namespace lorekeep::lm
