#include "lm/session/generation_request.h"

#include <utility>

namespace lorekeep::lm {

std::string_view finish_name(Finish finish) noexcept {
  switch (finish) {
    case Finish::kStop: return "stop";
    case Finish::kStopString: return "stop_string";
    case Finish::kLength: return "length";
    case Finish::kContext: return "context";
    case Finish::kCancelled: return "cancelled";
    case Finish::kDeadline: return "deadline";
  }
  return "stop";
}

void GenerationRequest::listen(std::function<void(bool)> listener) {
  std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

std::vector<Piece> GenerationRequest::take() {
  std::lock_guard lock(mutex_);
  told_ = false;
  return std::exchange(pieces_, {});
}

void GenerationRequest::set_pin(std::shared_ptr<PinnedPrefix> pin) {
  std::lock_guard lock(mutex_);
  pin_ = std::move(pin);
}

std::shared_ptr<PinnedPrefix> GenerationRequest::pin() const {
  std::lock_guard lock(mutex_);
  return pin_;
}

GenerationResult GenerationRequest::result() {
  std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  return std::move(result_);
}

void GenerationRequest::add(Token token, const FilteredText& text, TokenLogProbabilities log_probabilities,
                            std::vector<TokenLogProbabilities> of_reply) {
  std::lock_guard lock(mutex_);
  if (ended()) return;
  result_.tokens.push_back(token);
  if (!log_probabilities.empty()) result_.log_probabilities.push_back(std::move(log_probabilities));
  append(text, std::move(of_reply));
  notify(false);
}

void GenerationRequest::add_text(const FilteredText& text, std::vector<TokenLogProbabilities> of_reply) {
  std::lock_guard lock(mutex_);
  if (ended()) return;
  append(text, std::move(of_reply));
}

void GenerationRequest::set_numbers(const GenerationNumbers& numbers) {
  std::lock_guard lock(mutex_);
  if (!ended()) result_.numbers = numbers;
}

void GenerationRequest::set_seed(std::uint64_t seed) {
  std::lock_guard lock(mutex_);
  result_.seed = seed;
}

void GenerationRequest::end(Finish finish) {
  std::lock_guard lock(mutex_);
  if (ended()) return;
  result_.finish = finish;
  ended_.store(true, std::memory_order_release);
  notify(true);
}

void GenerationRequest::fail(std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  if (ended()) return;
  error_ = std::move(error);
  ended_.store(true, std::memory_order_release);
  notify(true);
}

void GenerationRequest::append(const FilteredText& text, std::vector<TokenLogProbabilities> of_reply) {
  if (!text.thinking.empty()) {
    result_.thinking += text.thinking;
    piece(true).text += text.thinking;
  }
  if (text.text.empty() && of_reply.empty()) return;
  result_.text += text.text;
  Piece& reply = piece(false);
  reply.text += text.text;
  for (TokenLogProbabilities& one : of_reply) reply.log_probabilities.push_back(std::move(one));
}

Piece& GenerationRequest::piece(bool thinking) {
  if (pieces_.empty() || pieces_.back().thinking != thinking) pieces_.push_back({thinking, {}});
  return pieces_.back();
}

// Precondition: the lock is held.
void GenerationRequest::notify(bool ended) {
  if (!listener_ || (!ended && (told_ || pieces_.empty()))) return;
  told_ = true;
  listener_(ended);
}

}  // namespace lorekeep::lm
