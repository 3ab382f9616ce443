#include "engine/embedding_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/thread_pool.h"
#include "engine/abort_guard.h"
#include "engine/compute_slots.h"
#include "engine/context_pool.h"
#include "engine/embed_job.h"
#include "engine/gguf_file.h"
#include "engine/llama_log.h"
#include "engine/model_profile.h"
#include "engine/vocabulary.h"
#include "llama.h"

namespace lorekeep::engine {
namespace {

// From 64 to 512 tokens a batch makes little difference to the throughput of small models, but a query waits for the
// batch before it, and attention costs the square.
constexpr std::uint32_t kBatchTokens = 256;
constexpr std::uint32_t kContextTokens = 512;
constexpr std::uint32_t kBatchSequences = 64;
constexpr float kHashShare = 0.2f;  // of the progress of a load
constexpr float kTensorShare = 0.7f;

struct LoadWatch {
  const CancelToken* cancel;
  const Progress& progress;

  static bool report(float fraction, void* self) {
    const auto& watch = *static_cast<const LoadWatch*>(self);
    if (watch.progress) watch.progress(kHashShare + kTensorShare * fraction);
    return watch.cancel == nullptr || !watch.cancel->cancelled();
  }
};

std::string utf8_path(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

LlamaModel load_weights(const std::filesystem::path& path, const CancelToken* cancel, const Progress& progress) {
  LoadWatch watch{cancel, progress};
  std::array<ggml_backend_dev_t, 1> no_devices{};  // the CPU needs no entry; without a list every GPU would be used
  llama_model_params params = llama_model_default_params();
  params.devices = no_devices.data();
  params.n_gpu_layers = 0;
  params.progress_callback = &LoadWatch::report;
  params.progress_callback_user_data = &watch;
  const ErrorLines errors;
  const AbortGuard guard;
  LlamaModel model(llama_model_load_from_file(utf8_path(path).c_str(), params));
  if (!model) {
    if (cancel != nullptr) cancel->check();
    fail(Code::kModelInvalid, errors.reason("llama.cpp could not load it"));
  }
  return model;
}

}  // namespace

struct EmbeddingModel::Impl {
  // Destroyed in reverse: contexts before the model, the model before the backends.
  std::shared_ptr<const Backends> backends;
  LlamaModel model;
  ModelFacts facts;
  ContextSettings settings;
  std::optional<Vocabulary> vocabulary;
  std::optional<ContextPool> contexts;
  std::optional<ComputeSlots> slots;
  std::optional<ThreadPool> helpers;

  EmbedResources resources() {
    return {facts, settings, *vocabulary, *contexts, *slots, helpers ? &*helpers : nullptr};
  }

  void open(const std::filesystem::path& path, const LoadOptions& options, const CancelToken* cancel,
            const Progress& progress);
  void probe();
};

void EmbeddingModel::Impl::open(const std::filesystem::path& path, const LoadOptions& options,
                                const CancelToken* cancel, const Progress& progress) {
  const GgufFile file(path);
  const ModelProfile profile = profile_model(file, options.pooling);
  facts.name = profile.name;
  facts.architecture = profile.architecture;
  facts.pooling = profile.pooling;
  facts.dimension = profile.dimension;
  facts.training_context = profile.training_context;
  facts.context_size =
      std::min(options.context_size == 0 ? kDefaultContextCap : options.context_size, profile.training_context);
  facts.parameters = profile.parameters;
  facts.size_bytes = file.bytes().size();
  const auto hash_progress = [&progress](float fraction) {
    if (progress) progress(kHashShare * fraction);
  };
  facts.fingerprint = fingerprint_model(file, profile.pooling, cancel, hash_progress);
  try {
    model = load_weights(path, cancel, progress);
    vocabulary.emplace(*model);
    if (facts.context_size <= vocabulary->special_tokens()) {
      fail(Code::kInvalidArgument, "a context of " + std::to_string(facts.context_size) + " tokens holds no text: " +
                                       std::to_string(vocabulary->special_tokens()) + " are special ones");
    }
    settings = {facts.pooling, kBatchTokens, kContextTokens, facts.context_size, kBatchSequences};
    contexts.emplace(*model, settings);
    const std::size_t threads = options.threads == 0 ? usable_threads() : options.threads;
    slots.emplace(threads);
    if (threads > 1) helpers.emplace(threads - 1);
    if (cancel != nullptr) cancel->check();
    probe();
  } catch (const Error& error) {
    // What llama.cpp says does not name the file.
    if (error.code() == Code::kCancelled) throw;
    fail(error.code(), file.name() + ": " + error.what(), {{"path", file.name()}});
  }
  if (progress) progress(1.0f);
}

// Runs the whole graph once, so that a model that cannot compute fails here and not at the first text.
void EmbeddingModel::Impl::probe() {
  const std::array<std::string_view, 1> text{"a"};
  std::vector<float> vector(facts.dimension);
  std::vector<llama_token> tokens = vocabulary->tokenize(text[0]);
  if (tokens.empty()) fail(Code::kModelInvalid, "the vocabulary has no token for the letter a");
  tokens.resize(std::min<std::size_t>(tokens.size(), facts.context_size));
  std::unique_ptr<EmbeddingContext> context = contexts->take(static_cast<std::uint32_t>(tokens.size()));
  const Sequence sequence{tokens, vector};
  context->compute({&sequence, 1}, nullptr);
  contexts->give_back(std::move(context));
  if (!std::all_of(vector.begin(), vector.end(), [](float value) { return std::isfinite(value); })) {
    fail(Code::kModelInvalid, "the weights give values that are not numbers");
  }
}

EmbeddingModel::EmbeddingModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

EmbeddingModel::~EmbeddingModel() = default;

std::shared_ptr<EmbeddingModel> EmbeddingModel::load(const std::filesystem::path& path, const LoadOptions& options,
                                                     std::shared_ptr<const Backends> backends,
                                                     const CancelToken* cancel, const Progress& progress) {
  auto impl = std::make_unique<Impl>();
  impl->backends = std::move(backends);
  impl->open(path, options, cancel, progress);
  return std::shared_ptr<EmbeddingModel>(new EmbeddingModel(std::move(impl)));
}

const ModelFacts& EmbeddingModel::facts() const noexcept {
  return impl_->facts;
}

EmbedResult EmbeddingModel::embed(std::span<const std::string_view> texts, const CancelToken* cancel,
                                  const Progress& progress, LongText long_text) {
  const EmbedResources resources = impl_->resources();
  return EmbedJob(resources, texts, long_text, cancel, progress).run();
}

EmbedResult EmbeddingModel::embed(const TextArena& texts, const CancelToken* cancel, const Progress& progress) {
  std::vector<std::string_view> views(texts.size());
  for (std::size_t i = 0; i < views.size(); ++i) views[i] = texts[i];
  return embed(views, cancel, progress);
}

std::uint32_t EmbeddingModel::count_tokens(std::string_view text) const {
  if (text.size() > kMaxTextBytes) {
    fail(Code::kTextTooLong, "the text has " + std::to_string(text.size()) + " bytes, at most " +
                                 std::to_string(kMaxTextBytes) + " are cut into tokens");
  }
  return static_cast<std::uint32_t>(impl_->vocabulary->tokenize(text).size());
}

}  // namespace lorekeep::engine
