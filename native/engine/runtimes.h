// The ways in which one model can be computed on this machine. Internal to native/engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/computer_pool.h"
#include "engine/gguf_file.h"
#include "engine/model_profile.h"

namespace lorekeep::engine {

/// Most texts of a batch.
inline constexpr std::uint32_t kBatchSequences = 64;

struct Runtime {
  std::string name;  // as in ComputeSettings
  /// Makes computers; whatever they share is kept alive by them and by this.
  MakeComputer make;
};

/// Names of the sets of native/encoder that are worth trying, the most exact first: the best in f32, then what rounds
/// to bf16, then what multiplies in 8 bits. None when the model is no BERT or the processor has no set. kLlamaRuntime
/// always can.
std::vector<std::string_view> encoder_runtimes(const ModelProfile& profile);

/// Null when there is no such set, or when the file turns out to be none that native/encoder
/// computes: see read_bert().
std::unique_ptr<Runtime> make_encoder_runtime(std::string_view name, std::shared_ptr<const GgufFile> file,
                                              const ModelProfile& profile);

}  // namespace lorekeep::engine
