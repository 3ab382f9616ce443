// The runtimes that can compute a model on this machine. Internal to native/engine.
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

/// Maximum number of texts of a batch.
inline constexpr std::uint32_t kBatchSequences = 64;

struct Runtime {
  std::string name;  // as in ComputeSettings
  /// Creates computers, which share ownership of common data.
  MakeComputer make;
};

/// Returns the names of the native/encoder sets that are worth measuring, most exact first: the best in f32, then bf16,
/// then 8 bits. Empty if the model is not a BERT or the processor supports no set. kLlamaRuntime is not listed.
std::vector<std::string_view> encoder_runtimes(const ModelProfile& profile);

/// Returns null if there is no such set, or native/encoder cannot compute the file: see read_bert().
std::unique_ptr<Runtime> make_encoder_runtime(std::string_view name, std::shared_ptr<const GgufFile> file,
                                              const ModelProfile& profile);

}  // namespace lorekeep::engine
