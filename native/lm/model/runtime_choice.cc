#include "lm/model/runtime_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "core/system/thread_clock.h"
#include "decoder/kernels.h"
#include "engine/settings_memory.h"
#include "lm/model/generation_context.h"

namespace lorekeep::lm {
namespace {

/// A measurement, which computes the same tokens in every round.
struct Plan {
  std::uint32_t prompt;
  std::uint32_t reply;  // less than the least context
  std::size_t rounds;
  std::size_t most_rounds;  // if the first ones disagree
};
constexpr Plan kUsualPlan{64, 12, 3, 6};
// A large model is slow, and may not fit into memory twice: its runtimes are loaded one after the other.
constexpr Plan kLargePlan{16, 4, 2, 2};
// What both runtimes read: divergences of made-up tokens say nothing of text. Long enough for every vocabulary.
constexpr std::string_view kText =
    "The keeper lights the lamp at dusk and writes the hour into a book. On clear nights the light is seen from the "
    "islands, thirty kilometres away; in fog a bell rings every two minutes. Last winter the storm of 9 January broke "
    "three panes, and the repair cost 412 euros.\n\n"
    "Question: Who lights the lamp, and when?\nAnswer: The keeper does, at dusk. He comes by boat, and in summer his "
    "daughter helps him: she counts the ships that pass, and asks each captain for news of the harbour on the other "
    "side.\n\nfor (const ship of ships) console.log(`${ship.name}: ${ship.length} m`);\n";
constexpr std::uint64_t kLargeFile = std::uint64_t{1} << 30;  // bytes
// The usual work of an agent's turn: some hundred tokens of a prompt that is mostly in the cache, and a reply.
constexpr double kPromptPerTurn = 512;
constexpr double kReplyPerTurn = 96;
// native/decoder must be faster by this factor, the precision of measurements.
constexpr double kBetter = 0.95;
// Largest divergence of two distributions of the next token of a text, in nats. Rounding differs by less than 0.01 with
// weights of 4 bits, whose own cost is larger.
constexpr double kMaxDivergence = 0.03;

/// Returns so many tokens of the text, after BOS if the model wants it.
std::vector<Token> tokens_of_text(const LanguageModel& model, std::size_t count, const CancelToken* cancel) {
  // No longer than the least context, whose tokens may have one byte each.
  constexpr std::size_t kPiece = 16;
  std::vector<Token> tokens = model.tokenize_prompt("", cancel);
  const auto begin = static_cast<std::ptrdiff_t>(tokens.size());
  for (std::size_t at = 0; tokens.size() < count; at = (at + kPiece) % kText.size()) {
    const std::vector<Token> found = model.tokenize_prompt(kText.substr(at, kPiece), cancel);
    tokens.insert(tokens.end(), found.begin() + begin, found.end());
  }
  return tokens;
}

/// Models whose runtimes were measured with real weights, with AVX2 and AVX-512: native/decoder is about twice as fast
/// or better, and closer to weights in F32 (docs/measurements/models.md).
struct KnownShape {
  std::string_view architecture;
  std::uint32_t layers;
  std::uint32_t embedding_size;
  std::uint32_t vocabulary_size;
};
constexpr KnownShape kFasterByDecoder[] = {
    {"llama", 30, 576, 49152},    // SmolLM2-135M
    {"gemma3", 18, 640, 262144},  // Gemma 3 270M
};

/// A runtime that computes the same tokens in every round.
class Candidate {
 public:
  Candidate(std::shared_ptr<const LanguageModel> model, const Plan& plan, const CancelToken* cancel)
      : tokens_(tokens_of_text(*model, plan.prompt + plan.reply, cancel)),
        prompt_(std::min(plan.prompt, model->options().context_size - plan.reply)),
        reply_(plan.reply),
        cancel_(cancel),
        context_(GenerationContext::make(std::move(model))) {
    round();  // allocates
  }

  void add_round() { seconds_.push_back(round()); }
  /// Seconds of a turn, by each round.
  const std::vector<double>& seconds() const noexcept { return seconds_; }
  /// Log-probabilities of every output of a round.
  const std::vector<std::vector<float>>& distributions() const noexcept { return distributions_; }
  std::shared_ptr<const LanguageModel> model() const { return context_->shared_model(); }

 private:
  double round() {
    context_->remove(0, -1);
    distributions_.clear();
    std::vector<GenerationContext::Row> rows;
    for (std::uint32_t i = 0; i < prompt_; ++i) rows.push_back(row(i, i + 1 == prompt_));
    const double prompt = timed(rows) / prompt_;
    double reply = 0;
    for (std::uint32_t i = 0; i < reply_; ++i) reply += timed({row(prompt_ + i, true)});
    return kPromptPerTurn * prompt + kReplyPerTurn * reply / reply_;
  }

  GenerationContext::Row row(std::uint32_t position, bool output) const noexcept {
    return {tokens_[position], static_cast<std::int32_t>(position), 0, output};
  }

  double timed(const std::vector<GenerationContext::Row>& rows) {
    if (cancel_ != nullptr) cancel_->check();
    const double begin = thread_seconds();
    context_->decode(rows, {});
    const double seconds = thread_seconds() - begin;
    const std::span<float> logits = context_->logits(rows.size() - 1);
    const float top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
    const auto shift = static_cast<float>(top + std::log(sum));
    std::vector<float>& found = distributions_.emplace_back(logits.begin(), logits.end());
    for (float& value : found) value -= shift;
    return seconds;
  }

  std::vector<Token> tokens_;
  std::uint32_t prompt_;
  std::uint32_t reply_;
  const CancelToken* cancel_;
  std::unique_ptr<GenerationContext> context_;
  std::vector<double> seconds_;
  std::vector<std::vector<float>> distributions_;
};

// Returns the mean Kullback-Leibler divergence; infinite or NaN if values are not numbers, or not of one vocabulary.
double divergence(const std::vector<std::vector<float>>& reference, const std::vector<std::vector<float>>& other) {
  double total = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    // The file may have been replaced between the loads.
    if (i >= other.size() || reference[i].size() != other[i].size()) return std::numeric_limits<double>::infinity();
    for (std::size_t token = 0; token < reference[i].size(); ++token) {
      const double probability = std::exp(static_cast<double>(reference[i][token]));
      total += probability * (static_cast<double>(reference[i][token]) - other[i][token]);
    }
  }
  return total / static_cast<double>(reference.size());
}

// Whether native/decoder is faster in every round, in none, or in some.
enum class Outcome { kFaster, kNotFaster, kUnsure };

Outcome outcome(const std::vector<double>& llama, const std::vector<double>& decoder) {
  std::size_t wins = 0;
  for (std::size_t i = 0; i < llama.size(); ++i) wins += decoder[i] < kBetter * llama[i] ? 1 : 0;
  if (wins == 0) return Outcome::kNotFaster;
  return wins == llama.size() ? Outcome::kFaster : Outcome::kUnsure;
}

Runtime runtime_of(const engine::ComputeSettings& settings) {
  return settings.runtime == kDecoderRuntime ? Runtime::kDecoder : Runtime::kLlama;
}

double least(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

}  // namespace

std::vector<std::string> runtime_candidates() {
  return {std::string(engine::kLlamaRuntime), std::string(kDecoderRuntime)};
}

std::optional<Runtime> known_runtime(const std::string& fingerprint, std::span<const engine::KnownSettings> known) {
  const auto found = engine::find_settings(fingerprint, runtime_candidates(), known, 0);
  return found ? std::optional(runtime_of(*found)) : std::nullopt;
}

std::optional<Runtime> likely_runtime(std::span<const engine::KnownSettings> known) {
  std::optional<Runtime> found;
  for (const engine::KnownSettings& entry : known) {
    if (entry.candidates == runtime_candidates()) found = runtime_of(entry.settings);
  }
  return found;
}

std::optional<Runtime> shipped_runtime(const LanguageProfile& profile) {
  const std::string_view kernels = decoder::available_kernels().back()->name;
  if (!kernels.starts_with("avx")) return std::nullopt;
  const bool known = std::ranges::any_of(kFasterByDecoder, [&](const KnownShape& shape) {
    return shape.architecture == profile.architecture && shape.layers == profile.layers &&
           shape.embedding_size == profile.embedding_size && shape.vocabulary_size == profile.vocabulary_size;
  });
  return known ? std::optional(Runtime::kDecoder) : std::nullopt;
}

MeasuredRuntime measure_runtime(const std::filesystem::path& path, const LanguageModelOptions& options,
                                const std::string& fingerprint, std::shared_ptr<const engine::Backends> backends,
                                const CancelToken* cancel) {
  std::error_code ignored;  // the caller has read the file
  const bool large = std::filesystem::file_size(path, ignored) > kLargeFile;
  const Plan& plan = large ? kLargePlan : kUsualPlan;
  const auto load = [&](Runtime runtime) {
    LanguageModelOptions small = options;
    small.runtime = runtime;
    small.placement = Placement::kRam;
    small.deterministic = false;
    small.context_size = plan.prompt + plan.reply;
    small.kv_cells = 0;
    small.batch_size = plan.prompt;
    small.threads = 1;
    small.batch_threads = 1;
    return std::make_unique<Candidate>(LanguageModel::load(path, small, backends, cancel), plan, cancel);
  };
  std::unique_ptr<Candidate> llama = load(Runtime::kLlama);
  const auto expected = llama->distributions();
  std::vector<double> before;
  if (large) {
    for (std::size_t i = 0; i < plan.rounds; ++i) llama->add_round();
    before = llama->seconds();
    llama.reset();
  }
  const std::unique_ptr<Candidate> decoder = load(Runtime::kDecoder);
  const bool agrees = divergence(expected, decoder->distributions()) <= kMaxDivergence;
  Outcome found = Outcome::kUnsure;
  for (std::size_t i = 0; agrees && i < plan.most_rounds && (i < plan.rounds || found == Outcome::kUnsure); ++i) {
    if (llama) {
      llama->add_round();
      before = llama->seconds();
    }
    decoder->add_round();
    if (before.size() == decoder->seconds().size()) found = outcome(before, decoder->seconds());
  }
  const bool faster = agrees && least(decoder->seconds()) < kBetter * least(before);
  const std::string chosen(faster ? kDecoderRuntime : engine::kLlamaRuntime);
  engine::remember_settings({fingerprint, runtime_candidates(), {chosen, 0}}, !agrees || found != Outcome::kUnsure);
  return {*known_runtime(fingerprint, {}), decoder->model()};
}

}  // namespace lorekeep::lm
