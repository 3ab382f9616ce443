#include "engine/runtimes.h"

#include <utility>

#include "encoder/kernels.h"
#include "engine/bert_computer.h"
#include "engine/bert_file.h"

namespace lorekeep::engine {

std::vector<std::string_view> encoder_runtimes(const ModelProfile& profile) {
  std::vector<std::string_view> names;
  if (profile.architecture != "bert") return names;
  const auto sets = encoder::available_kernels();
  // Without the scalar set, which is there to be compared with.
  for (std::size_t i = sets.size(); i-- > 1;) names.emplace_back(sets[i]->name);
  return names;
}

std::unique_ptr<Runtime> make_encoder_runtime(std::string_view name, std::shared_ptr<const GgufFile> file,
                                              const ModelProfile& profile) {
  const encoder::Kernels* kernels = encoder::kernels_named(name);
  if (kernels == nullptr) return nullptr;
  const auto precision = kernels->gemm_bf16 == nullptr ? encoder::Precision::kF32 : encoder::Precision::kBf16;
  std::shared_ptr<const encoder::BertWeights> weights = read_bert(std::move(file), profile, precision);
  if (weights == nullptr) return nullptr;
  auto runtime = std::make_unique<Runtime>();
  runtime->name = name;
  runtime->make = [weights, kernels, pooling = profile.pooling](std::uint32_t capacity) {
    return std::make_unique<BertComputer>(weights, *kernels, pooling, capacity);
  };
  return runtime;
}

}  // namespace lorekeep::engine
