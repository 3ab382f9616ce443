#include "lm/session/session_request.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <utility>

#include "core/values/error.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {

void SessionRequest::sample(std::span<float> logits, const Tokens& vocabulary, Allowance& work, Clock::time_point now) {
  if (constrained()) return;  // computed again while it waits: it has these logits
  if (input.log_probabilities) raw_logits_.assign(logits.begin(), logits.end());
  choose(logits, vocabulary, work, now);
}

void SessionRequest::continue_sampling(const Tokens& vocabulary, Allowance& work) {
  choose(held_logits_, vocabulary, work, Clock::now());
}

void SessionRequest::choose(std::span<float> logits, const Tokens& vocabulary, Allowance& work, Clock::time_point now) {
  try {
    TokenConstraint* constraint = input.constraint.get();
    const std::uint64_t before = work.spent();
    const std::optional<Token> chosen = sampler.sample(logits, constraint, work);
    constraint_work_ += work.spent() - before;
    if (!chosen) {
      if (constrained()) return;
      held_logits_.assign(logits.begin(), logits.end());
      held_at_ = now;
      ++numbers.constraint_waits;
      return;
    }
    constraint_work_ = 0;
    std::vector<float> held;  // `logits` may be in it
    held.swap(held_logits_);
    if (!held.empty()) numbers.constraint_ms += milliseconds(now - held_at_);
    const Token token = *chosen;
    if (token == Sampler::kNone) {
      if (std::any_of(logits.begin(), logits.end(), [](float logit) { return std::isnan(logit); }))
        fail(Code::kModelInvalid, "the weights of the model give values that are not numbers");
      if (constraint != nullptr && !constraint->may_end()) {
        fail(Code::kInvalidArgument,
             "no token continues the reply as its constraint requires: the vocabulary lacks the "
             "characters, or logitBias excludes them");
      }
      return finish(Finish::kStop);  // the constraint allows nothing more
    }
    sampler.accept(token);
    if (constraint != nullptr) constraint->accept(token);
    std::vector<LogProbability> log_probabilities;
    if (input.log_probabilities) {
      log_probabilities = lm::log_probabilities(raw_logits_, token, *input.log_probabilities);
      for (LogProbability& one : log_probabilities) vocabulary.append_piece(one.token, one.bytes);
    }
    add(token, std::move(log_probabilities), vocabulary, now);
  } catch (const Error&) {
    request->fail(std::current_exception());
  }
}

void SessionRequest::add(Token token, std::vector<LogProbability> log_probabilities, const Tokens& vocabulary,
                         Clock::time_point now) {
  if (generated() == 0) {
    numbers.first_ms = milliseconds(now - request->arrived);
  } else {
    const double gap = milliseconds(now - last_token_at);
    numbers.longest_gap_ms = std::max(numbers.longest_gap_ms, gap);
    numbers.decode_ms += gap;
  }
  last_token_at = now;
  if (vocabulary.ends(token)) return finish(Finish::kStop);
  tokens.push_back(token);
  std::string bytes;
  vocabulary.append_piece(token, bytes);
  const FilteredText text = filter.push(bytes);
  if (!log_probabilities.empty()) undecided_.push_back(log_probabilities);
  request->add(token, text, std::move(log_probabilities), decided());
  if (text.stopped) return finish(Finish::kStopString);
  if (filter.inside_reply()) ++replied;
  const bool enough = input.max_reply_tokens && replied >= *input.max_reply_tokens;
  if (enough || generated() >= input.max_tokens) return finish(Finish::kLength);
  if (tokens.size() > limit) return finish(Finish::kContext);
  request->set_numbers(numbers);
}

std::vector<TokenLogProbabilities> SessionRequest::decided() {
  if (filter.inside_reply()) return std::exchange(undecided_, {});
  if (!filter.undecided()) undecided_.clear();
  return {};
}

void SessionRequest::admit(Clock::time_point now) {
  if (admitted_at) return;
  admitted_at = now;
  numbers.queued_ms = milliseconds(now - request->arrived);
  numbers.cached_tokens = computed;
}

void SessionRequest::count_prefill(Clock::time_point now) {
  if (!admitted_at) {
    numbers.queued_ms = milliseconds(now - request->arrived);
    return;
  }
  numbers.prefill_ms = milliseconds(now - *admitted_at);
  numbers.computed_tokens = computed - std::min(computed, numbers.cached_tokens);
}

void SessionRequest::finish(Finish finish) {
  if (generated() == 0) count_prefill(Clock::now());
  const FilteredText rest = filter.finish();
  request->add_text(rest, decided());
  request->set_numbers(numbers);
  request->end(finish);
}

}  // namespace lorekeep::lm
