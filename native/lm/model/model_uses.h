// The types of models as which a GGUF file can be loaded.
#pragma once

#include <optional>
#include <string>

#include "engine/gguf_file.h"
#include "engine/pooling.h"

namespace lorekeep::lm {

/// Why the header of a file rules out each type of model, in the words of its loader; empty where it does not. Weights
/// are not read.
struct ModelUses {
  std::string not_embedding;
  std::string not_language;
  std::string not_reranker;
};

/// `pooling`: of an embedding model, as for engine::profile_model().
ModelUses uses_of(const engine::GgufFile& file, std::optional<engine::Pooling> pooling);

}  // namespace lorekeep::lm
