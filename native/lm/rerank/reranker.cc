#include "lm/rerank/reranker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/threads/step_watch.h"
#include "core/threads/work.h"
#include "core/values/error.h"
#include "core/values/utf8.h"
#include "engine/compute_slots.h"
#include "engine/computer_pool.h"
#include "engine/embedding_model.h"
#include "engine/gguf_file.h"
#include "engine/llama_computer.h"
#include "engine/llama_load.h"
#include "engine/model_profile.h"
#include "lm/rerank/pair_prompt.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {
namespace {

constexpr std::uint32_t kOrdinaryTokens = 512;  // of a computer
// Documents that are tokenized and sorted by length at a time.
constexpr std::size_t kWindow = 1024;

}  // namespace

struct Reranker::Impl {
  // Destroyed in reverse: computers before the model, the model before the backends.
  std::shared_ptr<const engine::Backends> backends;
  RerankerFacts facts;
  engine::LlamaModel model;
  std::optional<Tokens> tokens;
  std::optional<PairPrompt> prompt;
  std::optional<engine::ComputerPool> computers;
  std::optional<engine::ComputeSlots> slots;
  std::optional<ThreadPool> helpers;

  void open(const std::filesystem::path& path, const RerankerOptions& options, const CancelToken* cancel,
            const Progress& progress);
  RankResult rank(std::string_view text, const TextArena& documents, const CancelToken* cancel);
  void rank_window(const PairPrompt::Query& query, const TextArena& documents, std::size_t begin, std::size_t end,
                   const Work& work, RankResult& result);
  // One pair at a time: the score of a pair in a batch of several differs in the third digit.
  void compute(const Pair& pair, std::span<float> score, const CancelToken* cancel);
};

void Reranker::Impl::open(const std::filesystem::path& path, const RerankerOptions& options, const CancelToken* cancel,
                          const Progress& progress) {
  const engine::GgufFile file(path);
  const engine::ModelProfile profile = engine::profile_reranker(file);
  facts.name = profile.name;
  facts.architecture = profile.architecture;
  facts.training_context = profile.training_context;
  const std::uint32_t wanted = options.context_size == 0 ? RerankerOptions::kDefaultContext : options.context_size;
  facts.context_size = std::min(wanted, profile.training_context);
  facts.parameters = profile.parameters;
  facts.size_bytes = file.size();
  try {
    facts.fingerprint =
        engine::fingerprint_model(file, engine::Pooling::kRank, cancel, engine::hash_progress(progress));
    model = engine::load_llama(path, engine::LlamaContent::kAll, cancel, engine::tensor_progress(progress));
    tokens.emplace(*model);
    const char* const rerank = llama_model_chat_template(model.get(), "rerank");
    prompt.emplace(*tokens, rerank == nullptr ? "" : rerank);
    facts.has_template = prompt->has_template();
    computers.emplace(
        [this](std::uint32_t capacity) {
          return std::make_unique<engine::LlamaComputer>(*model, engine::Pooling::kRank, 1, capacity);
        },
        engine::ComputerSizes{kOrdinaryTokens, facts.context_size});
    const std::size_t threads = options.threads == 0 ? usable_threads() : options.threads;
    slots.emplace(threads);
    if (threads > 1)
      helpers.emplace(threads - 1, std::chrono::microseconds{}, ThreadPriority::kBackground,
                      WatchedPool{"helpers of a model", WatchedStep::EndsAt::kCheck});
    if (cancel != nullptr) cancel->check();
    file.check_unchanged();
    TextArena probe;
    probe.append("a");
    rank("a", probe, nullptr);
  } catch (const Error& error) {
    // llama.cpp's messages do not name the file; our message about a changed file does.
    if (error.code() == Code::kCancelled || error.code() == Code::kCorrupt) throw;
    file.check_present(error);
    const bool context = error.code() == Code::kTextTooLong;
    fail_file(context ? Code::kInvalidArgument : error.code(), file.name(),
              context ? "a context of " + std::to_string(facts.context_size) + " tokens is too small for any pair"
                      : error.what());
  }
  if (progress) progress(1.0f);
}

RankResult Reranker::Impl::rank(std::string_view text, const TextArena& documents, const CancelToken* cancel) {
  if (text.size() > engine::kMaxTextBytes) {
    fail(Code::kTextTooLong, "the query has " + std::to_string(text.size()) + " bytes; at most " +
                                 std::to_string(engine::kMaxTextBytes) + " can be tokenized");
  }
  const PairPrompt::Query query = prompt->query(text, facts.context_size, cancel);
  RankResult result;
  result.scores.assign(documents.size(), 0.0f);
  const Work work{helpers ? &*helpers : nullptr, slots->total(), cancel};
  for (std::size_t begin = 0; begin < documents.size(); begin += kWindow)
    rank_window(query, documents, begin, std::min(documents.size(), begin + kWindow), work, result);
  computers->trim();
  return result;
}

void Reranker::Impl::rank_window(const PairPrompt::Query& query, const TextArena& documents, std::size_t begin,
                                 std::size_t end, const Work& work, RankResult& result) {
  std::vector<Pair> pairs(end - begin);
  parallel_for(work, pairs.size(), 1, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t i = first; i < last; ++i) {
      const std::string_view whole = documents[begin + i];
      const std::string_view document = utf8_prefix(whole, engine::kMaxTextBytes);
      pairs[i] = prompt->pair(query, document, facts.context_size, work.cancel);
      pairs[i].truncated = pairs[i].truncated || document.size() < whole.size();
    }
  });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].truncated) result.truncated.push_back(static_cast<std::uint32_t>(begin + i));
    result.tokens += pairs[i].tokens.size();
  }
  const std::span<float> scores = std::span(result.scores).subspan(begin, pairs.size());
  // The longest first, so that the last ones finish quickly.
  std::vector<std::uint32_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return pairs[a].tokens.size() > pairs[b].tokens.size(); });
  parallel_for(work, order.size(), 1, [&](std::size_t first, std::size_t last, std::size_t) {
    for (std::size_t i = first; i < last; ++i) compute(pairs[order[i]], scores.subspan(order[i], 1), work.cancel);
  });
}

void Reranker::Impl::compute(const Pair& pair, std::span<float> score, const CancelToken* cancel) {
  const engine::Sequence sequence{pair.tokens, score};
  {
    const engine::ComputeSlots::Lease lease = slots->take(scheduler::ConsumerClass::kInteractiveVisible, cancel);
    const ExemptPart exempt(Exempt::kEmbeddingBatch);
    auto computer = computers->take(static_cast<std::uint32_t>(pair.tokens.size()));
    const engine::ComputeStatus status = computer->compute({&sequence, 1}, cancel);
    computers->give_back(std::move(computer));
    if (status == engine::ComputeStatus::kCancelled) fail(Code::kCancelled, "the operation was aborted");
  }
  if (!std::isfinite(score[0])) fail(Code::kModelInvalid, "the model computed scores that are not numbers");
}

Reranker::Reranker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Reranker::~Reranker() = default;

std::shared_ptr<Reranker> Reranker::load(const std::filesystem::path& path, const RerankerOptions& options,
                                         std::shared_ptr<const engine::Backends> backends, const CancelToken* cancel,
                                         const Progress& progress) {
  auto impl = std::make_unique<Impl>();
  impl->backends = std::move(backends);
  impl->open(path, options, cancel, progress);
  return std::shared_ptr<Reranker>(new Reranker(std::move(impl)));
}

const RerankerFacts& Reranker::facts() const noexcept {
  return impl_->facts;
}

RankResult Reranker::rank(std::string_view query, const TextArena& documents, const CancelToken* cancel) {
  return impl_->rank(query, documents, cancel);
}

}  // namespace lorekeep::lm
