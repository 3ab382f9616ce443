#include "engine/embedding_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/threads/thread_pool.h"
#include "engine/compute_slots.h"
#include "engine/computer_pool.h"
#include "engine/embed_job.h"
#include "engine/gguf_file.h"
#include "engine/llama_computer.h"
#include "engine/llama_load.h"
#include "engine/measure.h"
#include "engine/model_profile.h"
#include "engine/runtimes.h"
#include "engine/settings_memory.h"
#include "engine/unigram_file.h"
#include "engine/vocabulary.h"
#include "ggml-backend.h"
#include "llama.h"

namespace lorekeep::engine {
namespace {

constexpr std::uint32_t kOrdinaryTokens = 512;  // of a computer
constexpr std::uint64_t kBufferShare = 4;       // of the weights: buffers of a batch, roughly

}  // namespace

struct EmbeddingModel::Impl {
  // Destroyed in reverse: computers before the model, the model before the backends.
  std::shared_ptr<const Backends> backends;
  ModelFacts facts;
  std::shared_ptr<llama_model> model;  // if llama.cpp tokenizes or computes
  std::optional<Vocabulary> vocabulary;
  std::optional<ComputerPool> computers;
  std::optional<ComputeSlots> slots;
  std::optional<ThreadPool> helpers;
  std::filesystem::path path;
  LoadOptions options;
  ggml_backend_dev_t gpu = nullptr;  // null: on the CPU
  GpuUse gpu_use;

  EmbedResources resources() { return {facts, *vocabulary, *computers, *slots, helpers ? &*helpers : nullptr}; }

  void open(const CancelToken* cancel, const Progress& progress);
  ggml_backend_dev_t place() const;
  void read_facts(const GgufFile& file, const ModelProfile& profile, const CancelToken* cancel,
                  const Progress& progress);
  void read_vocabulary(const GgufFile& file);
  void take_model(std::shared_ptr<llama_model> from);
  void load_vocabulary(const CancelToken* cancel, const Progress& progress);
  void check_context() const;
  Runtime choose_runtime(std::shared_ptr<const GgufFile> file, const ModelProfile& profile, const CancelToken* cancel,
                         const Progress& progress);
  Runtime llama_runtime(const CancelToken* cancel, const Progress& progress);
  void probe();
};

void EmbeddingModel::Impl::open(const CancelToken* cancel, const Progress& progress) {
  const auto file = std::make_shared<const GgufFile>(path);
  const ModelProfile profile = profile_model(*file, options.pooling);
  read_facts(*file, profile, cancel, progress);
  try {
    read_vocabulary(*file);
    gpu = place();
    if (gpu != nullptr) facts.device = ggml_backend_dev_name(gpu);
    Runtime runtime = choose_runtime(file, profile, cancel, progress);
    computers.emplace(std::move(runtime.make), ComputerSizes{kOrdinaryTokens, facts.context_size});
    const std::size_t usable = options.threads == 0 ? usable_threads() : options.threads;
    const std::size_t threads = gpu == nullptr ? usable : 1;  // batches of several threads would wait for one device
    slots.emplace(threads);
    // One text is embedded by its caller alone, so helpers work for many texts only.
    if (threads > 1)
      helpers.emplace(threads - 1, std::chrono::microseconds{}, ThreadPriority::kBackground,
                      WatchedPool{"helpers of a model", WatchedStep::EndsAt::kCheck});
    if (cancel != nullptr) cancel->check();
    file->check_unchanged();
    probe();
    file->forget();
  } catch (const Error& error) {
    // llama.cpp's messages do not name the file; our message about a changed file does.
    if (error.code() == Code::kCancelled || error.code() == Code::kCorrupt) throw;
    file->check_present(error);
    fail_file(error.code(), file->name(), error.what());
  }
  if (progress) progress(1.0f);
}

// Returns the device, null for main memory.
ggml_backend_dev_t EmbeddingModel::Impl::place() const {
  const bool wanted =
      options.placement == Placement::kVram ||
      (options.placement == Placement::kAuto && options.runtime.empty() && facts.parameters >= kWorthGpu);
  if (!wanted) return nullptr;
  const std::string problem = Backends::lacking_room(facts.size_bytes + facts.size_bytes / kBufferShare);
  if (problem.empty()) return Backends::chosen_gpu().device;
  if (options.placement == Placement::kAuto) return nullptr;
  fail(Backends::chosen_gpu().device == nullptr ? Code::kUnsupported : Code::kOutOfMemory,
       "placement vram: " + problem);
}

void EmbeddingModel::Impl::read_facts(const GgufFile& file, const ModelProfile& profile, const CancelToken* cancel,
                                      const Progress& progress) {
  facts.name = profile.name;
  facts.architecture = profile.architecture;
  facts.pooling = profile.pooling;
  facts.dimension = profile.dimension;
  facts.training_context = profile.training_context;
  facts.context_size =
      std::min(options.context_size == 0 ? kDefaultContextCap : options.context_size, profile.training_context);
  facts.parameters = profile.parameters;
  facts.size_bytes = file.size();
  facts.fingerprint = fingerprint_model(file, profile.pooling, cancel, hash_progress(progress));
}

// Takes the vocabulary that is read without llama.cpp, if the file has one.
void EmbeddingModel::Impl::read_vocabulary(const GgufFile& file) {
  std::unique_ptr<const UnigramVocabulary> unigram = read_unigram(file);
  if (unigram == nullptr) return;
  vocabulary.emplace(std::move(unigram));
  check_context();
}

void EmbeddingModel::Impl::take_model(std::shared_ptr<llama_model> from) {
  if (!vocabulary || vocabulary->needs_model()) vocabulary.emplace(*from);
  model = std::move(from);
  check_context();
}

// Lets go of the weights of llama.cpp, which another runtime does not need.
void EmbeddingModel::Impl::load_vocabulary(const CancelToken* cancel, const Progress& progress) {
  if (vocabulary && !vocabulary->needs_model()) {
    model.reset();
  } else {
    take_model(load_llama(path, LlamaContent::kVocabulary, cancel, tensor_progress(progress)));
  }
}

void EmbeddingModel::Impl::check_context() const {
  if (facts.context_size <= vocabulary->special_tokens()) {
    fail(Code::kInvalidArgument, "a context of " + std::to_string(facts.context_size) + " tokens is too small: " +
                                     std::to_string(vocabulary->special_tokens()) + " are special tokens");
  }
}

// Stores the settings in the facts. A model computed by native/encoder needs llama.cpp at most for the vocabulary.
Runtime EmbeddingModel::Impl::choose_runtime(std::shared_ptr<const GgufFile> file, const ModelProfile& profile,
                                             const CancelToken* cancel, const Progress& progress) {
  facts.candidates.emplace_back(kLlamaRuntime);
  if (gpu != nullptr) {
    facts.settings = default_settings(kLlamaRuntime);
    facts.measured = false;
    return llama_runtime(cancel, progress);
  }
  const std::vector<std::string_view> encoders = encoder_runtimes(profile);
  facts.candidates.insert(facts.candidates.end(), encoders.begin(), encoders.end());
  const std::optional<ComputeSettings> wanted = options.runtime.empty()
                                                    ? find_settings(facts.fingerprint, facts.candidates, options.known)
                                                    : default_settings(options.runtime);
  facts.measured = options.runtime.empty() && settings_measured(facts.fingerprint, facts.candidates);
  if (wanted && wanted->runtime != kLlamaRuntime) {
    if (const auto runtime = make_encoder_runtime(wanted->runtime, file, profile)) {
      load_vocabulary(cancel, progress);
      facts.settings = *wanted;
      return *runtime;
    }
    if (!options.runtime.empty()) {
      std::string names;
      for (const std::string& name : facts.candidates) names += (names.empty() ? "" : ", ") + name;
      fail(Code::kInvalidArgument,
           "the runtime " + options.runtime + " cannot compute this model on this machine; choose one of " + names);
    }
  }
  Runtime llama = llama_runtime(cancel, progress);
  if (wanted && wanted->runtime == kLlamaRuntime) {
    facts.settings = *wanted;
    return llama;
  }
  file->check_unchanged();  // its weights and the tokens of llama.cpp are of one file
  std::vector<MakeRuntime> others;
  for (std::string_view name : encoders)
    others.emplace_back([name, &file, &profile] { return make_encoder_runtime(name, file, profile); });
  Measured found = measure(std::move(llama), others, *vocabulary, facts.context_size, facts.dimension, cancel);
  facts.settings = found.settings;
  facts.measured = true;
  remember_settings({facts.fingerprint, facts.candidates, found.settings});
  if (found.settings.runtime != kLlamaRuntime) load_vocabulary(cancel, progress);
  return std::move(found.runtime);
}

Runtime EmbeddingModel::Impl::llama_runtime(const CancelToken* cancel, const Progress& progress) {
  std::shared_ptr<llama_model> all = load_llama(path, LlamaContent::kAll, cancel, tensor_progress(progress), gpu);
  take_model(all);
  gpu_use.device = facts.device;
  return {std::string(kLlamaRuntime),
          [all, pooling = facts.pooling, use = gpu == nullptr ? nullptr : &gpu_use](std::uint32_t capacity) {
            return std::make_unique<LlamaComputer>(*all, pooling, kBatchSequences, capacity, use);
          }};
}

// Embeds one text, so that an unusable model fails at loading and not at the first text.
void EmbeddingModel::Impl::probe() {
  const std::array<std::string_view, 1> text{"a"};
  std::vector<float> vector(facts.dimension);
  std::vector<llama_token> tokens = vocabulary->tokenize(text[0]);
  if (tokens.empty()) fail(Code::kModelInvalid, "the vocabulary has no token for the letter a");
  tokens.resize(std::min<std::size_t>(tokens.size(), facts.context_size));
  std::unique_ptr<BatchComputer> computer = computers->take(static_cast<std::uint32_t>(tokens.size()));
  const Sequence sequence{tokens, vector};
  computer->compute({&sequence, 1}, nullptr);
  computers->give_back(std::move(computer));
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
  impl->path = path;
  impl->options = options;
  impl->open(cancel, progress);
  return std::shared_ptr<EmbeddingModel>(new EmbeddingModel(std::move(impl)));
}

const ModelFacts& EmbeddingModel::facts() const {
  return impl_->facts;
}

EmbedResult EmbeddingModel::embed(std::span<const std::string_view> texts, const CancelToken* cancel,
                                  const Progress& progress, LongText long_text) {
  return EmbedJob(impl_->resources(), texts, long_text, cancel, progress).run();
}

EmbedResult EmbeddingModel::embed(const TextArena& texts, const CancelToken* cancel, const Progress& progress) {
  std::vector<std::string_view> views(texts.size());
  for (std::size_t i = 0; i < views.size(); ++i) views[i] = texts[i];
  return embed(views, cancel, progress);
}

std::vector<std::int32_t> EmbeddingModel::tokens(std::string_view text, const CancelToken* cancel) const {
  if (text.size() > kMaxTextBytes) {
    fail(Code::kTextTooLong,
         "the text has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(kMaxTextBytes) +
             " can be tokenized",
         {{"tokens", std::int64_t{0}},
          {"limit", std::int64_t{facts().context_size}},
          {"bytes", static_cast<std::int64_t>(text.size())}});
  }
  return impl_->vocabulary->tokenize(text, cancel);
}

}  // namespace lorekeep::engine
