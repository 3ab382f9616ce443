#include "lm/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/threads/step_watch.h"
#include "lm/grammar/constraint.h"

namespace lorekeep::lm {
namespace {

constexpr std::size_t kFirstPart = 256;  // of the candidates that top_p sorts

// Returns a number in [0, 1). Written out, because std::uniform_real_distribution differs between libraries.
double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1.0p-53;
}

// Smaller ids win ties, as in a scan from the first token.
template <class Candidate>
bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

constexpr float kExcluded = -std::numeric_limits<float>::infinity();

}  // namespace

Sampler::Sampler(SamplingOptions options, std::uint64_t seed) : options_(std::move(options)), random_(seed) {}

Token Sampler::sample(std::span<float> logits) {
  Allowance work;
  return *sample(logits, nullptr, work);
}

std::optional<Token> Sampler::sample(std::span<float> logits, TokenConstraint* constraint, Allowance& work) {
  if (stage_ == Stage::kStart) {
    penalize(logits);
    drawn_ = draw(logits);
    if (constraint == nullptr || drawn_ == kNone) return drawn_;
    stage_ = Stage::kDrawn;
  }
  if (stage_ == Stage::kDrawn) {
    const std::optional<bool> allowed = constraint->allows(drawn_, work);
    if (!allowed) return std::nullopt;
    stage_ = *allowed ? Stage::kStart : Stage::kRefused;
    if (*allowed) return drawn_;
  }
  if (stage_ == Stage::kRefused) {
    // The mask takes longer than the check of one token, so it is computed only after a refusal.
    const NamedPart part("constraint");
    if (!constraint->prepare(work)) return std::nullopt;
    constraint->mask(logits);
    drawn_ = draw(logits);
    stage_ = drawn_ == kNone ? Stage::kStart : Stage::kDrawnAgain;
    if (drawn_ == kNone) return kNone;
  }
  // Reads the token, so that accept() need not.
  if (!constraint->allows(drawn_, work)) return std::nullopt;
  stage_ = Stage::kStart;
  return drawn_;
}

void Sampler::accept(Token token) {
  if (options_.penalty_last_n <= 0) return;
  if (recent_.size() == static_cast<std::size_t>(options_.penalty_last_n)) {
    const auto oldest = counts_.find(recent_.front());
    if (--oldest->second == 0) counts_.erase(oldest);
    recent_.pop_front();
  }
  recent_.push_back(token);
  ++counts_[token];
}

void Sampler::penalize(std::span<float> logits) const {
  for (const auto& [token, bias] : options_.biases) {
    if (token >= 0 && static_cast<std::size_t>(token) < logits.size()) logits[static_cast<std::size_t>(token)] += bias;
  }
  if (options_.repeat_penalty == 1 && options_.frequency_penalty == 0 && options_.presence_penalty == 0) return;
  for (const auto& [token, count] : counts_) {
    float& logit = logits[static_cast<std::size_t>(token)];
    logit = logit <= 0 ? logit * options_.repeat_penalty : logit / options_.repeat_penalty;
    logit -= static_cast<float>(count) * options_.frequency_penalty + options_.presence_penalty;
  }
}

Token Sampler::draw(std::span<const float> logits) {
  if (options_.temperature <= 0) {
    const auto greatest = std::max_element(logits.begin(), logits.end());
    return *greatest > kExcluded ? static_cast<Token>(greatest - logits.begin()) : kNone;
  }
  select(logits);
  if (candidates_.empty()) return kNone;
  const double greatest = candidates_.front().logit;
  double sum = 0;
  for (const Candidate& candidate : candidates_) sum += std::exp((candidate.logit - greatest) / options_.temperature);
  double left = uniform(random_) * sum;
  for (const Candidate& candidate : candidates_) {
    left -= std::exp((candidate.logit - greatest) / options_.temperature);
    if (left < 0) return candidate.token;
  }
  return candidates_.back().token;
}

void Sampler::select(std::span<const float> logits) {
  const auto wanted = static_cast<std::size_t>(std::max(0, options_.top_k));
  if (wanted > 0 && wanted < logits.size()) {
    keep_top_k(logits);
  } else {
    keep_likely(logits);
  }
  cut();
}

void Sampler::keep_top_k(std::span<const float> logits) {
  const auto wanted = static_cast<std::size_t>(options_.top_k);
  candidates_.clear();  // a heap with the least likely on top
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const Candidate candidate{static_cast<Token>(i), logits[i]};
    if (!(candidate.logit > kExcluded)) continue;
    if (candidates_.size() == wanted) {
      if (!likelier(candidate, candidates_.front())) continue;
      std::pop_heap(candidates_.begin(), candidates_.end(), likelier<Candidate>);
      candidates_.back() = candidate;
    } else {
      candidates_.push_back(candidate);
    }
    std::push_heap(candidates_.begin(), candidates_.end(), likelier<Candidate>);
  }
  std::sort_heap(candidates_.begin(), candidates_.end(), likelier<Candidate>);
  total_ = 0;
  for (const Candidate& candidate : candidates_)
    total_ += std::exp(static_cast<double>(candidate.logit) - candidates_.front().logit);
}

// Collects the tokens that min_p keeps, and sorts as many of them as top_p may keep.
void Sampler::keep_likely(std::span<const float> logits) {
  candidates_.clear();
  float greatest = kExcluded;
  for (const float logit : logits) greatest = std::max(greatest, logit);
  total_ = 0;
  const float least = options_.min_p > 0 ? greatest + std::log(options_.min_p) : kExcluded;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > kExcluded)) continue;
    total_ += std::exp(static_cast<double>(logits[i]) - greatest);
    if (logits[i] >= least) candidates_.push_back({static_cast<Token>(i), logits[i]});
  }
  if (options_.top_p >= 1) {  // no order needed, but the most likely one comes first
    const auto first = std::min_element(candidates_.begin(), candidates_.end(), likelier<Candidate>);
    if (first != candidates_.end()) std::iter_swap(candidates_.begin(), first);
    return;
  }
  std::size_t sorted = 0;
  double covered = 0;
  const auto enough = [&] {
    return sorted == candidates_.size() || (sorted > 0 && covered >= options_.top_p * total_);
  };
  for (std::size_t part = kFirstPart; !enough(); part *= 8) {
    const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(sorted);
    const std::size_t end = std::min(candidates_.size(), part);
    std::partial_sort(begin, candidates_.begin() + static_cast<std::ptrdiff_t>(end), candidates_.end(),
                      likelier<Candidate>);
    for (; sorted < end; ++sorted) covered += std::exp(static_cast<double>(candidates_[sorted].logit) - greatest);
  }
  candidates_.resize(sorted);
}

void Sampler::cut() {
  if (candidates_.empty()) return;
  const float greatest = candidates_.front().logit;
  std::size_t kept = candidates_.size();
  if (options_.top_p < 1) {
    double covered = 0;
    for (kept = 0; kept < candidates_.size() && covered < options_.top_p * total_; ++kept)
      covered += std::exp(static_cast<double>(candidates_[kept].logit) - greatest);
  }
  if (options_.min_p > 0) {
    const float least = greatest + std::log(options_.min_p);
    while (kept > 1 && candidates_[kept - 1].logit < least) --kept;
  }
  candidates_.resize(std::max<std::size_t>(kept, 1));
}

std::vector<LogProbability> log_probabilities(std::span<const float> logits, Token token, std::size_t count) {
  float greatest = kExcluded;
  for (const float logit : logits) greatest = std::max(greatest, logit);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - greatest);
  const double shift = greatest + std::log(sum);
  const auto value = [&](Token of) { return static_cast<float>(logits[static_cast<std::size_t>(of)] - shift); };
  std::vector<LogProbability> found{{token, value(token)}};
  if (count == 0) return found;
  std::vector<Token> order(logits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Token>(i);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](Token a, Token b) {
    const float x = logits[static_cast<std::size_t>(a)];
    const float y = logits[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  });
  for (auto at = order.begin(); at != end; ++at) found.push_back({*at, value(*at)});
  return found;
}

}  // namespace lorekeep::lm
