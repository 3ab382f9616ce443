#include "engine/llama_computer.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "core/values/error.h"
#include "engine/abort_guard.h"
#include "engine/llama_log.h"

namespace lorekeep::engine {
namespace {

enum llama_pooling_type to_llama(Pooling pooling) {
  switch (pooling) {
    case Pooling::kMean: return LLAMA_POOLING_TYPE_MEAN;
    case Pooling::kCls: return LLAMA_POOLING_TYPE_CLS;
    case Pooling::kLast: return LLAMA_POOLING_TYPE_LAST;
    case Pooling::kRank: return LLAMA_POOLING_TYPE_RANK;
  }
  return LLAMA_POOLING_TYPE_MEAN;
}

bool is_cancelled(void* cancel) {
  return static_cast<const CancelToken*>(cancel)->cancelled();
}

// Returns the time that an operation takes on a GPU, in multiplications. An operation without a sum over products waits
// for memory: an element costs as much as some multiplications.
double work_of(const ggml_tensor& operation) {
  constexpr double kElement = 64;
  const auto elements = static_cast<double>(ggml_nelements(&operation));
  switch (operation.op) {
    case GGML_OP_NONE:
    case GGML_OP_RESHAPE:
    case GGML_OP_VIEW:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE: return 0;
    case GGML_OP_MUL_MAT:
    case GGML_OP_MUL_MAT_ID: return elements * static_cast<double>(operation.src[0]->ne[0]);
    case GGML_OP_FLASH_ATTN_EXT: return 2 * elements * static_cast<double>(operation.src[1]->ne[1]);
    default: return elements * kElement;
  }
}

}  // namespace

LlamaComputer::LlamaComputer(llama_model& model, Pooling pooling, std::uint32_t sequences, std::uint32_t capacity,
                             GpuUse* gpu)
    : capacity_(capacity), gpu_(gpu) {
  if (gpu_ != nullptr && gpu_->lost) lose("it is lost");
  llama_context_params params = llama_context_default_params();
  // A batch is computed in one piece, because bidirectional attention cannot be split. Nothing is kept between batches,
  // so a decoder's cache is as large as one batch.
  params.n_ctx = capacity;
  params.n_batch = capacity;
  params.n_ubatch = capacity;
  params.n_seq_max = std::min(sequences, capacity);
  params.n_threads = 1;
  params.n_threads_batch = 1;
  params.pooling_type = to_llama(pooling);
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
  params.embeddings = true;
  params.kv_unified = true;
  params.offload_kqv = gpu_ != nullptr;
  params.op_offload = gpu_ != nullptr;
  if (gpu_ != nullptr) {
    params.cb_eval = end_step;
    params.cb_eval_user_data = this;
  }
  params.no_perf = true;
  const ErrorLines errors;
  const AbortGuard guard;
  context_.reset(llama_init_from_model(&model, params));
  if (context_ == nullptr) {
    fail(Code::kOutOfMemory, "no context for batches of " + std::to_string(capacity) +
                                 " tokens: " + errors.reason("llama.cpp could not allocate its buffers"));
  }
}

// llama.cpp asks whether a step ends after an operation, and says when it has ended. After a stop, it goes on with the
// first operation of each remaining part of the graph.
bool LlamaComputer::end_step(ggml_tensor* operation, bool ask, void* computer) {
  auto& self = *static_cast<LlamaComputer*>(computer);
  StepBound& steps = self.gpu_->steps;
  if (ask) return self.stopped_ || steps.ends_after(work_of(*operation));
  steps.ended(std::chrono::steady_clock::now());
  self.stopped_ = self.stopped_ || (self.cancel_ != nullptr && self.cancel_->cancelled());
  return !self.stopped_;
}

void LlamaComputer::lose(const std::string& reason) {
  gpu_->lost = true;
  fail(Code::kDeviceLost, gpu_->device + " failed: " + reason, {{"device", gpu_->device}});
}

// Any other failure of a computation on a GPU is the device's fault: models were probed at loading.
ComputeStatus LlamaComputer::compute(std::span<const Sequence> sequences, const CancelToken* cancel) {
  if (gpu_ == nullptr) return compute_batch(sequences, cancel);
  if (gpu_->lost) lose("it is lost");
  cancel_ = cancel;
  stopped_ = false;
  try {
    gpu_->steps.begin(std::chrono::steady_clock::now());
    const ComputeStatus status = compute_batch(sequences, cancel);
    if (stopped_) return ComputeStatus::kCancelled;
    gpu_->steps.ended(std::chrono::steady_clock::now());
    return status;
  } catch (const Error& error) {
    if (error.code() == Code::kOutOfMemory) throw;
    lose(error.what());
  } catch (const std::exception& error) {
    lose(error.what());
  }
}

ComputeStatus LlamaComputer::compute_batch(std::span<const Sequence> sequences, const CancelToken* cancel) {
  rows_.clear();
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    llama_pos position = 0;
    for (const auto token : sequences[s].tokens) rows_.add(token, position++, static_cast<llama_seq_id>(s), true);
  }
  if (rows_.size() == 0 || rows_.size() > capacity_) fail(Code::kInternal, "a batch does not fit its context");

  const ErrorLines errors;
  const AbortGuard guard;
  if (llama_memory_t memory = llama_get_memory(context_.get())) llama_memory_clear(memory, false);
  llama_set_abort_callback(context_.get(), cancel == nullptr ? nullptr : is_cancelled,
                           const_cast<CancelToken*>(cancel));
  const std::int32_t status = llama_decode(context_.get(), rows_.batch());
  llama_set_abort_callback(context_.get(), nullptr, nullptr);
  if (status == 2) return ComputeStatus::kCancelled;
  if (status == -2) fail(Code::kOutOfMemory, "embedding: " + errors.reason("no memory for a batch"));
  if (status != 0) {
    fail(Code::kInternal,
         "embedding: llama.cpp refused a batch (" + std::to_string(status) + "): " + errors.reason("no reason given"));
  }
  if (stopped_) return ComputeStatus::kDone;  // without vectors
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const float* vector = llama_get_embeddings_seq(context_.get(), static_cast<llama_seq_id>(s));
    if (vector == nullptr) fail(Code::kModelInvalid, "embedding: the model gave no pooled vector");
    std::copy_n(vector, sequences[s].vector.size(), sequences[s].vector.begin());
  }
  return ComputeStatus::kDone;
}

}  // namespace lorekeep::engine
