#include "engine/runtimes.h"

#include <utility>

#include "encoder/kernels.h"
#include "engine/bert_computer.h"
#include "engine/bert_file.h"

namespace lorekeep::engine {

namespace {

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
  std::shared_ptr<const encoder::BertWeights> weights = read_bert(std::move(file), profile, kernels->precision);
  if (weights == nullptr) return nullptr;
  auto runtime = std::make_unique<Runtime>();
  runtime->name = name;
  runtime->make = [weights, kernels, pooling = profile.pooling](std::uint32_t capacity) {
    return std::make_unique<BertComputer>(weights, *kernels, pooling, capacity);
  };
  return runtime;
}

}  // namespace lorekeep::engine
