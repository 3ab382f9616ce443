#include "engine/bert_computer.h"

#include <new>

#include "core/values/error.h"

namespace lorekeep::engine {
namespace {

encoder::Rows rows_of(Pooling pooling) {
  switch (pooling) {
    case Pooling::kMean: return encoder::Rows::kMean;
    case Pooling::kCls: return encoder::Rows::kFirst;
    case Pooling::kLast: return encoder::Rows::kLast;
    case Pooling::kRank: break;  // llama.cpp computes rerankers
  }
  return encoder::Rows::kMean;
}

}  // namespace

ComputeStatus BertComputer::compute(std::span<const Sequence> sequences, const CancelToken* cancel) {
  texts_.clear();
  for (const Sequence& sequence : sequences) texts_.push_back({sequence.tokens, sequence.vector});
  try {
    return run_.compute(texts_, rows_of(pooling_), cancel) ? ComputeStatus::kDone : ComputeStatus::kCancelled;
  } catch (const std::bad_alloc&) {
    fail(Code::kOutOfMemory, "embedding: no memory for a batch");
  }
}

}  // namespace lorekeep::engine
