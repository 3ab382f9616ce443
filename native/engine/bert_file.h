// Reads the weights of a BERT from a GGUF file for native/encoder. Internal to native/engine.
#pragma once

#include <memory>

#include "encoder/bert.h"
#include "encoder/linear.h"
#include "engine/gguf_file.h"
#include "engine/model_profile.h"

namespace lorekeep::engine {

/// Null unless the file is a plain BERT: the architecture "bert", no tensor beside those of the original layout, each
/// of the expected shape, numbers that are finite, sizes that the kernels take. Everything else is llama.cpp's to
/// compute, or to refuse. `file` is profiled, and read at every text for its token embeddings. Throws bad_alloc.
std::unique_ptr<encoder::BertWeights> read_bert(std::shared_ptr<const GgufFile> file, const ModelProfile& profile,
                                                encoder::Precision precision);

}  // namespace lorekeep::engine
