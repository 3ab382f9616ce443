#include "engine/runtimes.h"

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/values/error.h"
#include "encoder/bert.h"
#include "encoder/kernels.h"
#include "engine/batch_computer.h"
#include "engine/bert_file.h"
#include "engine/pooling.h"

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

/// Computes batches with native/encoder.
class BertComputer : public BatchComputer {
 public:
  BertComputer(std::shared_ptr<const encoder::BertWeights> weights, std::shared_ptr<const GgufFile> file,
               const encoder::EncoderKernels& kernels, Pooling pooling, std::uint32_t capacity)
      : weights_(std::move(weights)),
        file_(std::move(file)),
        run_(*weights_, kernels),
        pooling_(pooling),
        capacity_(capacity) {}

  std::uint32_t capacity() const noexcept override { return capacity_; }
  ComputeStatus compute(std::span<const Sequence> sequences, const CancelToken* cancel) override {
    texts_.clear();
    for (const Sequence& sequence : sequences) texts_.push_back({sequence.tokens, sequence.vector});
    try {
      const bool done = run_.compute(texts_, rows_of(pooling_), cancel);
      if (file_ != nullptr) file_->check_mapped();
      return done ? ComputeStatus::kDone : ComputeStatus::kCancelled;
    } catch (const std::bad_alloc&) {
      fail(Code::kOutOfMemory, "embedding: no memory for a batch");
    }
  }

 private:
  std::shared_ptr<const encoder::BertWeights> weights_;
  std::shared_ptr<const GgufFile> file_;  // if rows of it are read while texts are computed
  encoder::BertRun run_;
  Pooling pooling_;
  std::uint32_t capacity_;
  std::vector<encoder::BertText> texts_;
};

constexpr std::string_view kSlowTwin = "scalar";  // only for comparison

}  // namespace

std::vector<std::string_view> encoder_runtimes(const ModelProfile& profile) {
  std::vector<std::string_view> names;
  if (profile.architecture != "bert") return names;
  for (const encoder::EncoderKernels* set : encoder::available_kernels()) {
    if (set->name == kSlowTwin) continue;
    if (set->precision == encoder::Precision::kF32) names.clear();  // a plainer set in f32
    names.emplace_back(set->name);
  }
  return names;
}

std::unique_ptr<Runtime> make_encoder_runtime(std::string_view name, std::shared_ptr<const GgufFile> file,
                                              const ModelProfile& profile) {
  const encoder::EncoderKernels* kernels = encoder::kernels_named(name);
  if (kernels == nullptr || name == kSlowTwin || profile.architecture != "bert") return nullptr;
  std::shared_ptr<const encoder::BertWeights> weights = read_bert(file, profile, kernels->precision);
  if (weights == nullptr) return nullptr;
  if (!reads_rows(*file)) file.reset();
  auto runtime = std::make_unique<Runtime>();
  runtime->name = name;
  runtime->make = [weights, file, kernels, pooling = profile.pooling](std::uint32_t capacity) {
    return std::make_unique<BertComputer>(weights, file, *kernels, pooling, capacity);
  };
  return runtime;
}

}  // namespace lorekeep::engine
