#include "lm/runtime_choice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "lm/generation_context.h"

namespace lorekeep::lm {
namespace {

constexpr std::uint32_t kPrompt = 128;
constexpr std::uint32_t kReply = 12;  // less than the least context
constexpr int kRounds = 3;
constexpr double kSlowSeconds = 0.5;  // a round that takes longer is the only one
// What a turn of an agent usually computes: some hundred tokens of a prompt that is mostly in the cache, and a reply.
constexpr double kPromptsPerTurn = 4;
constexpr double kRepliesPerTurn = 8;
// native/decoder must be faster by this factor, the precision of measurements.
constexpr double kBetter = 0.95;
// Of the distributions of the next token, in nats. Rounding differs by less than 0.01 with weights of 4 bits.
constexpr double kMostDivergence = 0.03;

struct Memory {
  std::mutex mutex;
  std::map<std::string, Runtime> measured;
};

Memory& memory() {
  static auto* found = new Memory;  // leaked: statics of other files may own models
  return *found;
}

/// A runtime and its times, the best of several rounds.
class Candidate {
 public:
  Candidate(std::shared_ptr<const LanguageModel> model, const CancelToken* cancel)
      : vocabulary_(model->facts().vocabulary_size),
        prompt_tokens_(std::min(kPrompt, model->options().context_size - kReply)),
        cancel_(cancel),
        context_(GenerationContext::make(std::move(model))) {}

  /// Returns the seconds of the round.
  double round() {
    context_->remove(0, -1);
    distributions_.clear();
    std::vector<GenerationContext::Row> rows;
    for (std::uint32_t i = 0; i < prompt_tokens_; ++i) rows.push_back(row(i, i + 1 == prompt_tokens_));
    const double prompt = timed(rows);
    double reply = 0;
    for (std::uint32_t i = prompt_tokens_; i < prompt_tokens_ + kReply; ++i) reply += timed({row(i, true)});
    prompt_ = std::min(prompt_, prompt);
    reply_ = std::min(reply_, reply);
    return prompt + reply;
  }
  double turn_seconds() const noexcept { return kPromptsPerTurn * prompt_ + kRepliesPerTurn * reply_; }
  /// Log-probabilities of every output of the last round.
  const std::vector<std::vector<float>>& distributions() const noexcept { return distributions_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Pseudo-random tokens, always the same.
  GenerationContext::Row row(std::uint32_t position, bool output) const noexcept {
    std::uint32_t state = position * 2654435761u + 12345u;
    state = state * 1664525u + 1013904223u;  // Numerical Recipes
    return {static_cast<Token>((state >> 8) % vocabulary_), static_cast<std::int32_t>(position), 0, output};
  }

  double timed(const std::vector<GenerationContext::Row>& rows) {
    if (cancel_ != nullptr) cancel_->check();
    const Clock::time_point begin = Clock::now();
    context_->decode(rows, {});
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const std::span<float> logits = context_->logits(rows.size() - 1);
    const float top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
    const auto shift = static_cast<float>(top + std::log(sum));
    std::vector<float>& found = distributions_.emplace_back(logits.begin(), logits.end());
    for (float& value : found) value -= shift;
    return seconds;
  }

  std::uint32_t vocabulary_;
  std::uint32_t prompt_tokens_;
  const CancelToken* cancel_;
  std::unique_ptr<GenerationContext> context_;
  std::vector<std::vector<float>> distributions_;
  double prompt_ = std::numeric_limits<double>::infinity();
  double reply_ = std::numeric_limits<double>::infinity();
};

// Returns the mean Kullback-Leibler divergence; infinite or NaN if values are not numbers.
double divergence(const std::vector<std::vector<float>>& reference, const std::vector<std::vector<float>>& other) {
  double total = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    for (std::size_t token = 0; token < reference[i].size(); ++token) {
      const double probability = std::exp(static_cast<double>(reference[i][token]));
      total += probability * (static_cast<double>(reference[i][token]) - other[i][token]);
    }
  }
  return total / static_cast<double>(reference.size());
}

/// What a candidate's rounds gave.
struct Measurement {
  double turn_seconds;
  std::vector<std::vector<float>> distributions;
};

Measurement measure(std::shared_ptr<const LanguageModel> model, const CancelToken* cancel) {
  Candidate candidate(std::move(model), cancel);
  for (int i = 0; i < kRounds && candidate.round() < kSlowSeconds; ++i) {
  }
  return {candidate.turn_seconds(), candidate.distributions()};
}

}  // namespace

std::vector<std::string> runtime_candidates() {
  return {std::string(engine::kLlamaRuntime), std::string(kDecoderRuntime)};
}

std::optional<Runtime> known_runtime(const std::string& fingerprint, std::span<const engine::KnownSettings> known) {
  {
    std::lock_guard lock(memory().mutex);
    const auto found = memory().measured.find(fingerprint);
    if (found != memory().measured.end()) return found->second;
  }
  for (const engine::KnownSettings& entry : known) {
    if (entry.fingerprint != fingerprint || entry.candidates != runtime_candidates()) continue;
    return entry.settings.runtime == kDecoderRuntime ? Runtime::kDecoder : Runtime::kLlama;
  }
  return std::nullopt;
}

bool runtime_measured(const std::string& fingerprint) {
  std::lock_guard lock(memory().mutex);
  return memory().measured.contains(fingerprint);
}

Runtime measure_runtime(const std::filesystem::path& path, const LanguageModelOptions& options,
                        const std::string& fingerprint, std::shared_ptr<const engine::Backends> backends,
                        const CancelToken* cancel) {
  const auto load = [&](Runtime runtime) {
    LanguageModelOptions small = options;
    small.runtime = runtime;
    small.placement = Placement::kRam;
    small.deterministic = false;
    small.context_size = kPrompt + kReply;
    small.kv_cells = 0;
    small.batch_size = kPrompt;
    return LanguageModel::load(path, small, backends, cancel);
  };
  // One after the other: a large model may not fit into memory twice.
  const Measurement llama = measure(load(Runtime::kLlama), cancel);
  const Measurement decoder = measure(load(Runtime::kDecoder), cancel);
  const bool agrees = divergence(llama.distributions, decoder.distributions) <= kMostDivergence;
  const bool faster = decoder.turn_seconds < kBetter * llama.turn_seconds;
  const Runtime chosen = agrees && faster ? Runtime::kDecoder : Runtime::kLlama;
  std::lock_guard lock(memory().mutex);
  return memory().measured.emplace(fingerprint, chosen).first->second;
}

}  // namespace lorekeep::lm
