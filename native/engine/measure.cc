#include "engine/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/system/thread_clock.h"
#include "core/values/error.h"

namespace lorekeep::engine {
namespace {

constexpr std::uint32_t kTextTokens = 16;     // a query, a short record
constexpr std::uint32_t kCompareTokens = 64;  // in the batch for comparing runtimes
constexpr std::uint32_t kBatchSizes[] = {128, 256, 512};
// Batch sizes from 64 to 512 tokens barely change the throughput of small models, but a query waits for the previous
// batch, and llama.cpp's attention costs the square of the batch size.
constexpr std::uint32_t kUsualBatch = 256;
constexpr int kRounds = 3;
// A larger batch, or a later runtime of the list, must be faster by this factor, the precision of measurements.
constexpr double kBetter = 0.95;
constexpr double kMinCosine = 0.999;
// If the compared batch takes this many seconds, batch sizes are not tried: such models spend their time on weights.
constexpr double kSlow = 0.05;

/// `tokens` pseudo-random tokens in texts of kTextTokens, always the same.
class Sample {
 public:
  Sample(const Vocabulary& vocabulary, std::uint32_t tokens, std::uint32_t longest, std::size_t dimension) {
    const std::uint32_t length = std::min(kTextTokens, longest);
    const std::size_t texts = std::max<std::size_t>(1, tokens / length);
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < texts; ++i) {
      std::vector<llama_token>& text = texts_.emplace_back(vocabulary.nothing());
      const std::size_t at = text.empty() ? 0 : 1;
      while (text.size() < length) {
        state = state * 1664525u + 1013904223u;  // Numerical Recipes
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size())),
                    static_cast<llama_token>((state >> 8) % vocabulary.size()));
      }
    }
    vectors_.resize(texts * dimension);
    for (std::size_t i = 0; i < texts; ++i)
      sequences_.push_back({texts_[i], std::span(vectors_).subspan(i * dimension, dimension)});
    tokens_ = static_cast<std::uint32_t>(texts * length);
  }

  /// Returns the seconds of processor time per token, the best of several rounds.
  double time(BatchComputer& computer, const CancelToken* cancel) {
    // The first round allocates buffers and warms the caches. A slow model gets only this round.
    double best = run(computer, cancel);
    for (int round = 0; round < kRounds && best < kSlow; ++round) best = std::min(best, run(computer, cancel));
    return best / tokens_;
  }
  const std::vector<float>& vectors() const noexcept { return vectors_; }
  std::uint32_t tokens() const noexcept { return tokens_; }

 private:
  double run(BatchComputer& computer, const CancelToken* cancel) {
    const double before = thread_seconds();
    if (computer.compute(sequences_, cancel) == ComputeStatus::kCancelled)
      fail(Code::kCancelled, "the operation was aborted");
    return thread_seconds() - before;
  }

  std::vector<std::vector<llama_token>> texts_;
  std::vector<float> vectors_;
  std::vector<Sequence> sequences_;
  std::uint32_t tokens_ = 0;
};

double least_cosine(const std::vector<float>& a, const std::vector<float>& b, std::size_t dimension) {
  double least = 1;
  for (std::size_t begin = 0; begin < a.size(); begin += dimension) {
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t i = begin; i < begin + dimension; ++i) {
      dot += static_cast<double>(a[i]) * b[i];
      aa += static_cast<double>(a[i]) * a[i];
      bb += static_cast<double>(b[i]) * b[i];
    }
    if (aa == 0 && bb == 0) continue;
    const double cosine = dot / std::sqrt(aa * bb);
    if (!(cosine >= least)) least = cosine;  // NaN, too
  }
  return least;
}

}  // namespace

ComputeSettings default_settings(std::string_view runtime) {
  return {std::string(runtime), kUsualBatch};
}

Measured measure(Runtime reference, std::span<const MakeRuntime> others, const Vocabulary& vocabulary,
                 std::uint32_t longest, std::size_t dimension, const CancelToken* cancel) {
  Sample sample(vocabulary, kCompareTokens, longest, dimension);
  Runtime chosen = std::move(reference);
  double best = sample.time(*chosen.make(sample.tokens()), cancel);
  const std::vector<float> expected = sample.vectors();
  for (const MakeRuntime& make : others) {
    const std::unique_ptr<Runtime> other = make();
    if (other == nullptr) continue;
    const double seconds = sample.time(*other->make(sample.tokens()), cancel);
    if (!(least_cosine(expected, sample.vectors(), dimension) >= kMinCosine)) continue;
    if (seconds >= best * kBetter) continue;
    best = seconds;
    chosen = *other;
  }
  ComputeSettings settings = default_settings(chosen.name);
  if (best * sample.tokens() >= kSlow) return {settings, std::move(chosen)};
  best = std::numeric_limits<double>::infinity();
  for (std::uint32_t tokens : kBatchSizes) {
    Sample batch(vocabulary, tokens, longest, dimension);
    const double seconds = batch.time(*chosen.make(batch.tokens()), cancel);
    if (seconds >= best * kBetter) continue;
    best = seconds;
    settings.batch_tokens = tokens;
  }
  return {settings, std::move(chosen)};
}

}  // namespace lorekeep::engine
