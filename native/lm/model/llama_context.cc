#include "lm/model/llama_context.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "core/system/startable_threads.h"
#include "core/values/error.h"
#include "engine/abort_guard.h"
#include "engine/llama_log.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "lm/model/saved_state.h"
#include "lm/text/tokens.h"

namespace lorekeep::lm {
namespace {

// The CPU backend is a plugin: its functions are found by name.
template <class Function>
Function cpu_function(const char* name) {
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  return reinterpret_cast<Function>(ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu), name));
}

// llama.cpp's id of the sequence that others are saved from, if they share cells: it saves only those below n_seq_max.
constexpr llama_seq_id kSaved = 0;

bool is_separate(const LanguageModel& model) noexcept {
  return model.options().deterministic || model.facts().memory == Memory::kRecurrent;
}

std::int32_t sequences_of(const LanguageModel& model) {
  if (model.options().deterministic) return kDeterministicSequences;
  return model.facts().memory == Memory::kRecurrent ? kRecurrentSequences : kAttentionSequences;
}

// A hybrid model's state begins with that of its KV cache.
StateLayout layout_of(const LanguageModel& model) {
  const bool cells = model.facts().memory == Memory::kAttention || llama_model_is_hybrid(&model.llama());
  if (!cells) return {0};
  return {model.options().deterministic ? static_cast<std::uint32_t>(sequences_of(model)) : 1};
}

[[noreturn]] void refuse_threads() {
  fail(Code::kOutOfMemory, "the system refuses the threads of the language model");
}

}  // namespace

struct LlamaContext::Abort {
  const std::function<bool()>& unwanted;  // may be empty
  std::optional<std::chrono::steady_clock::time_point> deadline;

  bool late() const { return deadline && std::chrono::steady_clock::now() >= *deadline; }
};

llama_context_params context_params(const LanguageModel& model) {
  const LanguageModelOptions& options = model.options();
  const bool separate = is_separate(model);
  llama_context_params params = llama_context_default_params();
  params.n_ctx = options.kv_cells;
  params.n_batch = options.batch_size;
  params.n_ubatch = options.batch_size;
  // With one unified cache, llama.cpp accepts 256 sequences anyway; a larger number only reserves more memory.
  params.n_seq_max = separate ? static_cast<std::uint32_t>(sequences_of(model)) : 1;
  params.n_outputs_max = LlamaContext::kMaxOutputs;
  params.n_threads = 1;
  params.n_threads_batch = 1;
  params.kv_unified = !options.deterministic;
  params.swa_full = true;  // a sliding-window cache that forgets cells could not share prefixes
  params.flash_attn_type = options.deterministic ? LLAMA_FLASH_ATTN_TYPE_DISABLED : LLAMA_FLASH_ATTN_TYPE_AUTO;
  params.offload_kqv = options.offload_kqv && options.placement != Placement::kRam;
  params.op_offload = options.placement != Placement::kRam;
  if (options.cache_type == CacheType::kQ8_0) params.type_k = params.type_v = GGML_TYPE_Q8_0;
  params.no_perf = true;
  return params;
}

std::string LlamaContext::state_name(const LanguageModel& model) {
  return std::string("llama.cpp ") + llama_version() + ", " + model.facts().backend +
         (model.options().deterministic ? ", deterministic" : "") +
         (model.options().cache_type == CacheType::kF16 ? "" : ", q8_0 cache");
}

void LlamaContext::PoolFree::operator()(ggml_threadpool* pool) const noexcept {
  if (const auto free_pool = cpu_function<decltype(&ggml_threadpool_free)>("ggml_threadpool_free")) free_pool(pool);
}

LlamaContext::LlamaContext(std::shared_ptr<const LanguageModel> model)
    : model_(std::move(model)),
      batch_size_(model_->options().batch_size),
      sequences_(sequences_of(*model_)),
      separate_(is_separate(*model_)),
      decode_threads_(model_->options().threads),
      batch_threads_(model_->options().batch_threads) {
  llama_context_params params = context_params(*model_);
  params.abort_callback = [](void* data) {
    const Abort* abort = *static_cast<const Abort* const*>(data);
    return abort != nullptr && ((abort->unwanted && abort->unwanted()) || abort->late());
  };
  params.abort_callback_data = &abort_;
  const engine::ErrorLines errors;
  const engine::AbortGuard guard;
  context_.reset(llama_init_from_model(&model_->llama(), params));
  if (!context_ && model_->options().cache_type != CacheType::kF16)
    fail(Code::kUnsupported, "no KV cache of 8 bits: " + errors.reason("llama.cpp cannot compute this model with one"));
  if (!context_) {
    fail(Code::kOutOfMemory, "no cache of " + std::to_string(params.n_ctx) +
                                 " tokens: " + errors.reason("llama.cpp could not allocate its buffers"));
  }
  batch_size_ = llama_n_batch(context_.get());
  // On this thread alone, where a failed assertion becomes an error. Later steps run on several threads, where it would
  // end the process.
  probe(static_cast<Token>(std::max(0, llama_vocab_bos(model_->tokens().vocabulary()))));
  ready_ = true;
  llama_memory_clear(llama_get_memory(context_.get()), true);
}

LlamaContext::~LlamaContext() = default;

// Returns llama.cpp's id of a sequence.
std::int32_t LlamaContext::id_of(std::int32_t sequence) const noexcept {
  return separate_ ? sequence : sequence + kSaved + 1;
}

// Without threads of its own, llama.cpp would start new ones for each step. Idle ones sleep (poll 0). If the system
// refuses some, fewer compute; llama.cpp itself would end the process.
void LlamaContext::start_threads() {
  const LanguageModelOptions& options = model_->options();
  const std::size_t wanted =
      std::min<std::size_t>(std::max(options.threads, options.batch_threads), GGML_MAX_N_THREADS);
  const auto make = cpu_function<decltype(&ggml_threadpool_new)>("ggml_threadpool_new");
  if (make == nullptr || wanted < 2) return;
  const std::size_t started = 1 + startable_threads(wanted - 1);
  if (started < wanted && options.deterministic) refuse_threads();
  most_threads_ = static_cast<std::uint32_t>(started);
  if (started < 2) return;
  ggml_threadpool_params params = ggml_threadpool_params_default(static_cast<int>(started));
  params.poll = 0;
  try {
    const engine::AbortGuard guard;
    threads_.reset(make(&params));
  } catch (const Error&) {  // other threads took the place of ours in between
    refuse_threads();
  }
  if (!threads_) refuse_threads();
  llama_attach_threadpool(context_.get(), threads_.get(), threads_.get());
}

// A model in deterministic mode keeps all threads, and on a GPU they hardly matter.
bool LlamaContext::chooses_threads() const noexcept {
  return !model_->options().deterministic && !model_->on_gpu();
}

std::uint32_t LlamaContext::choose_threads(std::size_t rows) noexcept {
  if (!ready_) return 1;
  const std::uint32_t most = std::min(rows > 1 ? batch_threads_ : decode_threads_, most_threads_);
  return chooses_threads() ? choice_.threads(rows, most) : most;
}

// A step of a recurrent model cannot be given up without losing its state.
double LlamaContext::patience_ms(std::size_t rows, std::uint32_t threads) const noexcept {
  const bool may = chooses_threads() && threads > 1 && model_->facts().memory == Memory::kAttention;
  return may ? choice_.patience_ms(rows, threads) : 0;
}

void LlamaContext::set_threads(std::uint32_t threads) noexcept {
  used_threads_ = threads;
  llama_set_n_threads(context_.get(), static_cast<std::int32_t>(threads), static_cast<std::int32_t>(threads));
}

void LlamaContext::use_threads(std::uint32_t threads, std::uint32_t batch_threads) noexcept {
  if (model_->options().deterministic) return;
  decode_threads_ = threads;
  batch_threads_ = batch_threads;
}

std::uint32_t LlamaContext::threads() const noexcept {
  return used_threads_;
}

scheduler::ThreadReason LlamaContext::thread_reason() const noexcept {
  return reason_;
}

// Returns llama_decode()'s status. Gives up after `patience_ms`; 0: never.
std::int32_t LlamaContext::compute(const llama_batch& batch, const std::function<bool()>& unwanted,
                                   double patience_ms) {
  using Clock = std::chrono::steady_clock;
  Abort abort{unwanted, {}};
  if (patience_ms > 0)
    abort.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double, std::milli>(patience_ms));
  abort_ = &abort;
  const std::int32_t status = llama_decode(context_.get(), batch);
  if (status == 0) llama_synchronize(context_.get());
  abort_ = nullptr;
  return status;
}

// With fewer threads if many hold each other up.
std::int32_t LlamaContext::decode_adaptively(const llama_batch& batch, const std::function<bool()>& unwanted) {
  const auto rows = static_cast<std::size_t>(batch.n_tokens);
  std::uint32_t threads = choose_threads(rows);
  const auto& options = model_->options();
  const scheduler::ThreadLimits limits{rows > 1 ? options.batch_threads : options.threads,
                                       rows > 1 ? batch_threads_ : decode_threads_, most_threads_};
  bool trial = chooses_threads() && choice_.tries(threads);
  for (;; trial = false) {
    set_threads(threads);
    reason_ = scheduler::thread_reason(limits, threads, trial);
    const double patience = patience_ms(rows, threads);
    const auto begin = std::chrono::steady_clock::now();
    const std::int32_t status = compute(batch, unwanted, patience);
    const double took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    const bool late = status == 2 && patience > 0 && took >= patience && !(unwanted && unwanted());
    if (status == 0 || late) choice_.learn(rows, threads, took, !late);
    if (!late) return status;
    threads /= 2;
  }
}

GenerationContext::Status LlamaContext::decode(std::span<const Row> rows, const std::function<bool()>& unwanted) {
  if (rows.empty() || rows.size() > batch_size_) fail(Code::kInternal, "a step does not fit its context");
  if (ready_ && !std::exchange(threads_started_, true)) start_threads();
  rows_.clear();
  for (const Row& row : rows) rows_.add(row.token, row.position, id_of(row.sequence), row.output);
  const llama_batch batch = rows_.batch();

  const engine::ErrorLines errors;
  const engine::AbortGuard guard;
  std::int32_t status = 0;
  try {
    status = decode_adaptively(batch, unwanted);
  } catch (const std::exception& error) {
    // Its threads may wait for this one forever, so they and the context can no longer be freed.
    (void)context_.release();
    (void)threads_.release();
    if (model_->on_gpu()) lose_device(error.what());
    throw;
  }
  if (status == 0) return Status::kDone;
  if (status == 1) return Status::kNoCells;
  if (status == 2) return Status::kAborted;
  if (model_->on_gpu() && status != -2) lose_device(errors.reason("a step failed"));
  if (status == -2) fail(Code::kOutOfMemory, "generation: " + errors.reason("no memory for a step"));
  fail(Code::kInternal,
       "generation: llama.cpp refused a step (" + std::to_string(status) + "): " + errors.reason("no reason given"));
}

void LlamaContext::lose_device(const std::string& reason) const {
  const std::string& device = model_->facts().device;
  fail(Code::kDeviceLost, device + " failed: " + reason, {{"device", device}});
}

std::span<float> LlamaContext::logits(std::size_t row) {
  float* found = llama_get_logits_ith(context_.get(), static_cast<std::int32_t>(row));
  if (found == nullptr) fail(Code::kInternal, "generation: a step without outputs");
  return {found, model_->tokens().size()};
}

bool LlamaContext::remove(std::int32_t sequence, std::int32_t from) {
  return llama_memory_seq_rm(llama_get_memory(context_.get()), id_of(sequence), from, -1);
}

void LlamaContext::share(std::int32_t from, std::int32_t to, std::int32_t tokens) {
  llama_memory_t memory = llama_get_memory(context_.get());
  if (!model_->options().deterministic) return llama_memory_seq_cp(memory, id_of(from), id_of(to), 0, tokens);
  llama_memory_seq_cp(memory, from, to, -1, -1);  // sequences with cells of their own are copied as a whole
  if (tokens >= 0) llama_memory_seq_rm(memory, to, tokens, -1);
}

std::vector<std::byte> LlamaContext::save(std::int32_t sequence) {
  llama_memory_t memory = llama_get_memory(context_.get());
  if (!separate_) llama_memory_seq_cp(memory, id_of(sequence), kSaved, -1, -1);
  const llama_seq_id from = separate_ ? sequence : kSaved;
  std::vector<std::byte> state(llama_state_seq_get_size(context_.get(), from));
  const std::size_t written =
      llama_state_seq_get_data(context_.get(), reinterpret_cast<std::uint8_t*>(state.data()), state.size(), from);
  if (!separate_) llama_memory_seq_rm(memory, kSaved, -1, -1);
  if (written == 0) fail(Code::kInternal, "generation: llama.cpp could not save a sequence");
  state.resize(written);
  return state;
}

bool LlamaContext::restore(std::int32_t sequence, std::span<const std::byte> state, std::int32_t tokens) {
  llama_memory_t memory = llama_get_memory(context_.get());
  const llama_seq_id id = id_of(sequence);
  if (!states_tokens(state, layout_of(*model_), static_cast<std::uint32_t>(tokens))) return false;
  const engine::ErrorLines errors;
  const engine::AbortGuard guard;
  const std::size_t read =
      llama_state_seq_set_data(context_.get(), reinterpret_cast<const std::uint8_t*>(state.data()), state.size(), id);
  if (read == state.size() && llama_memory_seq_pos_max(memory, id) == tokens - 1) return true;
  llama_memory_seq_rm(memory, id, -1, -1);
  return false;
}

}  // namespace lorekeep::lm
