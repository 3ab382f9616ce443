#include "engine/llama_computer.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/error.h"
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

}  // namespace

LlamaComputer::LlamaComputer(llama_model& model, Pooling pooling, std::uint32_t sequences, std::uint32_t capacity,
                             std::string gpu, const std::atomic<bool>* leaving)
    : capacity_(capacity), gpu_(std::move(gpu)), leaving_(leaving) {
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
  params.offload_kqv = !gpu_.empty();
  params.op_offload = !gpu_.empty();
  params.no_perf = true;
  const ErrorLines errors;
  const AbortGuard guard;
  context_.reset(llama_init_from_model(&model, params));
  if (context_ == nullptr) {
    fail(Code::kOutOfMemory, "no context for batches of " + std::to_string(capacity) +
                                 " tokens: " + errors.reason("llama.cpp could not allocate its buffers"));
  }
}

// Any other failure of a computation on a GPU is the device's fault: models were probed at loading.
ComputeStatus LlamaComputer::compute(std::span<const Sequence> sequences, const CancelToken* cancel) {
  if (gpu_.empty()) return compute_batch(sequences, cancel);
  if (leaving_ != nullptr && *leaving_) fail(Code::kDeviceLost, gpu_ + " is needed by others", {{"device", gpu_}});
  try {
    return compute_batch(sequences, cancel);
  } catch (const Error& error) {
    if (error.code() == Code::kOutOfMemory) throw;
    fail(Code::kDeviceLost, gpu_ + " failed: " + error.what(), {{"device", gpu_}});
  } catch (const std::exception& error) {
    fail(Code::kDeviceLost, gpu_ + " failed: " + error.what(), {{"device", gpu_}});
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
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const float* vector = llama_get_embeddings_seq(context_.get(), static_cast<llama_seq_id>(s));
    if (vector == nullptr) fail(Code::kModelInvalid, "embedding: the model gave no pooled vector");
    std::copy_n(vector, sequences[s].vector.size(), sequences[s].vector.begin());
  }
  return ComputeStatus::kDone;
}

}  // namespace lorekeep::engine
