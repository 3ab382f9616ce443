#include "lm/model/language_model.h"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <new>
#include <optional>
#include <utility>

#include "core/threads/thread_pool.h"
#include "core/values/error.h"
#include "engine/compute_settings.h"
#include "engine/decoder_file.h"
#include "engine/gguf_file.h"
#include "engine/llama_load.h"
#include "engine/model_profile.h"
#include "engine/profile_checks.h"
#include "engine/settings_memory.h"
#include "ggml-backend.h"
#include "llama.h"
#include "lm/model/llama_context.h"
#include "lm/model/memory_estimate.h"
#include "lm/model/runtime_choice.h"
#include "lm/model/shared_decoder.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {
namespace {

constexpr std::uint32_t kMinContext = 32;
constexpr std::uint64_t kWorthThreads = 8'000'000;  // parameters
constexpr std::size_t kMinTextLimit = std::size_t{1} << 20;
constexpr std::size_t kBytesPerToken = 8;  // more than texts have, on average, in any vocabulary

// Returns null for main memory and the CPU.
ggml_backend_dev_t choose_device(Placement placement) {
  if (placement == Placement::kRam) return nullptr;
  ggml_backend_dev_t gpu = engine::Backends::chosen_gpu().device;
  if (gpu == nullptr && placement == Placement::kVram)
    fail(Code::kUnsupported, "placement vram: no GPU backend is loaded; use placement ram or auto");
  return gpu;
}

engine::LlamaContent llama_content(LanguageModel::Content content, bool decoder) {
  if (decoder) return engine::LlamaContent::kVocabulary;
  return content == LanguageModel::Content::kShape ? engine::LlamaContent::kShape : engine::LlamaContent::kAll;
}

// LOREKEEP_RUNTIME, "llama.cpp" or "decoder", replaces the measurement of Runtime::kAuto, for comparisons.
Runtime default_runtime() {
  const char* wanted = std::getenv("LOREKEEP_RUNTIME");
  if (wanted == nullptr) return Runtime::kAuto;
  if (wanted == kDecoderRuntime) return Runtime::kDecoder;
  return wanted == engine::kLlamaRuntime ? Runtime::kLlama : Runtime::kAuto;
}

}  // namespace

struct LanguageModel::Impl {
  // Destroyed in reverse order.
  std::shared_ptr<const engine::Backends> backends;
  LanguageModelFacts facts;
  LanguageModelOptions options;
  std::shared_ptr<const decoder::DecoderWeights> decoder;
  engine::LlamaModel llama;
  bool gpu = false;
  std::optional<Tokens> tokens;

  void open(const std::filesystem::path& path, Content content, const CancelToken* cancel, const Progress& progress);
  engine::DecoderPlan plan_runtime(const engine::GgufFile& file, ggml_backend_dev_t device);
  std::shared_ptr<const LanguageModel> choose_runtime(const std::filesystem::path& path, const LanguageProfile& profile,
                                                      Content content, const CancelToken* cancel);
  void resolve_options(const LanguageProfile& profile);
  ggml_backend_dev_t place(const std::filesystem::path& path, Content content, const CancelToken* cancel);
  void read_facts(const engine::GgufFile& file, const LanguageProfile& profile, ggml_backend_dev_t device);
};

void LanguageModel::Impl::open(const std::filesystem::path& path, Content content, const CancelToken* cancel,
                               const Progress& progress) {
  const engine::GgufFile file(path);
  const LanguageProfile profile = profile_language_model(file);
  try {
    ggml_backend_dev_t device = place(path, content, cancel);
    gpu = device != nullptr;
    const engine::DecoderPlan plan = plan_runtime(file, device);
    if (content == Content::kAll) {
      facts.fingerprint =
          engine::fingerprint_model(file, engine::Pooling::kLast, cancel, engine::hash_progress(progress));
    }
    const std::shared_ptr<const LanguageModel> measured = choose_runtime(path, profile, content, cancel);
    const bool ours = options.runtime == Runtime::kDecoder;
    resolve_options(profile);
    read_facts(file, profile, device);
    std::future<std::shared_ptr<const decoder::DecoderWeights>> packing;  // while llama.cpp reads the vocabulary
    if (ours && content == Content::kAll)
      packing = std::async(std::launch::async | std::launch::deferred,
                           [&] { return shared_decoder(facts.fingerprint, file, plan, cancel); });
    llama = engine::load_llama(path, llama_content(content, ours), cancel, engine::tensor_progress(progress), device);
    if (llama_model_has_encoder(llama.get()) || !llama_model_has_decoder(llama.get()))
      fail(Code::kUnsupported, "an encoder; it does not generate text");
    tokens.emplace(*llama);
    if (packing.valid()) decoder = packing.get();
    if (cancel != nullptr) cancel->check();
    file.check_unchanged();
  } catch (const Error& error) {
    // llama.cpp's messages do not name the file; our message about a changed file does.
    if (error.code() == Code::kCancelled || error.code() == Code::kCorrupt) throw;
    file.check_present(error);
    fail_file(error.code(), file.name(), error.what());
  } catch (const std::bad_alloc&) {
    fail_file(Code::kOutOfMemory, file.name(), "no memory for its weights");
  }
  if (progress) progress(1.0f);
}

// Returns the device, null for main memory. Resolves placement auto.
ggml_backend_dev_t LanguageModel::Impl::place(const std::filesystem::path& path, Content content,
                                              const CancelToken* cancel) {
  if (options.runtime == Runtime::kDecoder && options.placement == Placement::kAuto)
    options.placement = Placement::kRam;
  ggml_backend_dev_t device = choose_device(options.placement);
  if (device != nullptr && content == Content::kAll) {
    std::uint64_t need = 0;
    for (const DeviceMemory& memory : estimate_memory(path, options, backends, cancel)) {
      if (memory.device == ggml_backend_dev_name(device)) need += memory.model + memory.context + memory.compute;
    }
    facts.placement_note = engine::Backends::lacking_room(need);
    if (!facts.placement_note.empty()) device = nullptr;
    if (device == nullptr && options.placement == Placement::kVram)
      fail(Code::kOutOfMemory, "placement vram: " + facts.placement_note);
  }
  if (device == nullptr) options.placement = Placement::kRam;
  return device;
}

// Returns the plan of native/decoder if it may compute the model. Replaces Runtime::kAuto unless both may.
engine::DecoderPlan LanguageModel::Impl::plan_runtime(const engine::GgufFile& file, ggml_backend_dev_t device) {
  const bool forced = options.runtime == Runtime::kDecoder;
  if (options.runtime == Runtime::kAuto) options.runtime = default_runtime();
  // The answer of a deterministic model must not depend on a measurement of times.
  if (options.runtime == Runtime::kAuto && options.deterministic) options.runtime = Runtime::kLlama;
  if (options.runtime == Runtime::kLlama) return {};
  engine::DecoderPlan plan;
  if (device == nullptr) {
    plan = engine::plan_decoder(file);
  } else {
    plan.obstacle = "it is placed on a GPU";
  }
  if (forced && !plan.suited())
    fail(Code::kUnsupported, "the runtime 'decoder' cannot compute it: " + plan.obstacle +
                                 (plan.damaged ? "; the file is damaged, or not of its architecture" : "; use 'auto'"));
  if (!plan.suited()) options.runtime = Runtime::kLlama;
  return plan;
}

// Replaces Runtime::kAuto of a model that both runtimes can compute. Returns the model that a measurement
// loaded, or null: its packed weights can be shared while it lives.
std::shared_ptr<const LanguageModel> LanguageModel::Impl::choose_runtime(const std::filesystem::path& path,
                                                                         const LanguageProfile& profile,
                                                                         Content content, const CancelToken* cancel) {
  if (options.runtime != Runtime::kAuto) return nullptr;
  facts.candidates = runtime_candidates();
  const std::optional<Runtime> shipped = shipped_runtime(profile);
  if (content == Content::kShape) {
    options.runtime = likely_runtime(options.known).value_or(shipped.value_or(Runtime::kLlama));
    return nullptr;
  }
  std::shared_ptr<const LanguageModel> loaded;
  if (const std::optional<Runtime> known = known_runtime(facts.fingerprint, options.known)) {
    options.runtime = *known;
  } else if (shipped) {
    options.runtime = *shipped;
  } else {
    MeasuredRuntime measured = measure_runtime(path, options, facts.fingerprint, backends, cancel);
    options.runtime = measured.runtime;
    loaded = std::move(measured.loaded);
  }
  facts.measured = engine::settings_measured(facts.fingerprint, facts.candidates);
  return loaded;
}

void LanguageModel::Impl::resolve_options(const LanguageProfile& profile) {
  if (options.runtime == Runtime::kDecoder) options.deterministic = false;  // it always is
  const std::uint32_t wanted = options.context_size == 0 ? LanguageModelOptions::kDefaultContext : options.context_size;
  options.context_size = std::max(kMinContext, std::min(wanted, profile.training_context));
  if (options.deterministic) options.kv_cells = options.context_size * std::uint32_t{kDeterministicSequences};
  if (options.kv_cells == 0) options.kv_cells = options.context_size;
  options.context_size = std::min(options.context_size, options.kv_cells);
  options.batch_size = std::min(options.batch_size, options.kv_cells);
  // Each operation ends with all threads waiting for each other, which costs more than a small one itself.
  const auto usable =
      profile.parameters < kWorthThreads ? std::uint32_t{1} : static_cast<std::uint32_t>(usable_threads());
  if (options.threads == 0) options.threads = usable;
  if (options.batch_threads == 0) options.batch_threads = usable;
}

void LanguageModel::Impl::read_facts(const engine::GgufFile& file, const LanguageProfile& profile,
                                     ggml_backend_dev_t device) {
  facts.name = profile.name;
  facts.architecture = profile.architecture;
  facts.memory = profile.memory;
  facts.context_size = options.context_size;
  facts.training_context = profile.training_context;
  facts.vocabulary_size = profile.vocabulary_size;
  facts.embedding_size = profile.embedding_size;
  facts.layers = profile.layers;
  facts.parameters = profile.parameters;
  facts.size_bytes = file.size();
  facts.chat_template = std::string(file.string("tokenizer.chat_template").value_or(""));
  facts.tokenizer_note = engine::tokenizer_note(file);
  ggml_backend_dev_t used = device == nullptr ? ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) : device;
  facts.device = ggml_backend_dev_name(used);
  facts.backend = ggml_backend_reg_name(ggml_backend_dev_backend_reg(used));
  facts.runtime = options.runtime == Runtime::kDecoder ? kDecoderRuntime : engine::kLlamaRuntime;
}

LanguageModel::LanguageModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LanguageModel::~LanguageModel() = default;

std::shared_ptr<LanguageModel> LanguageModel::load(const std::filesystem::path& path,
                                                   const LanguageModelOptions& options,
                                                   std::shared_ptr<const engine::Backends> backends,
                                                   const CancelToken* cancel, const Progress& progress,
                                                   Content content) {
  auto impl = std::make_unique<Impl>();
  impl->backends = std::move(backends);
  impl->options = options;
  impl->open(path, content, cancel, progress);
  return std::shared_ptr<LanguageModel>(new LanguageModel(std::move(impl)));
}

const LanguageModelFacts& LanguageModel::facts() const noexcept {
  return impl_->facts;
}

bool LanguageModel::on_gpu() const noexcept {
  return impl_->gpu;
}

const LanguageModelOptions& LanguageModel::options() const noexcept {
  return impl_->options;
}

llama_model& LanguageModel::llama() const noexcept {
  return *impl_->llama;
}

const std::shared_ptr<const decoder::DecoderWeights>& LanguageModel::decoder() const noexcept {
  return impl_->decoder;
}

const Tokens& LanguageModel::tokens() const noexcept {
  return *impl_->tokens;
}

std::size_t LanguageModel::max_text_bytes() const noexcept {
  return std::max(kMinTextLimit, kBytesPerToken * impl_->options.context_size);
}

std::uint32_t LanguageModel::count_tokens(std::string_view text, const CancelToken* cancel) const {
  if (text.size() > max_text_bytes()) {
    fail(Code::kTextTooLong,
         "the text has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(max_text_bytes()) +
             " can be tokenized",
         {{"tokens", std::int64_t{0}},
          {"limit", std::int64_t{impl_->options.context_size}},
          {"bytes", static_cast<std::int64_t>(text.size())}});
  }
  return static_cast<std::uint32_t>(impl_->tokens->tokenize(text, false, cancel).size());
}

std::vector<Token> LanguageModel::tokenize_prompt(std::string_view text, const CancelToken* cancel) const {
  const std::size_t at_least = text.size() / impl_->tokens->longest();
  if (text.size() > max_text_bytes() || at_least > impl_->options.context_size) {
    fail(Code::kTextTooLong,
         "the prompt has " + std::to_string(text.size()) + " bytes and does not fit a context of " +
             std::to_string(impl_->options.context_size) + " tokens",
         {{"tokens", std::int64_t{0}},
          {"limit", std::int64_t{impl_->options.context_size}},
          {"bytes", static_cast<std::int64_t>(text.size())}});
  }
  std::vector<Token> found = impl_->tokens->tokenize(text, false, cancel);
  impl_->tokens->add_begin(found);
  return found;
}

}  // namespace lorekeep::lm
