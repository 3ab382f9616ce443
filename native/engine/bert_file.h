// Reads the weights of a BERT from a GGUF file for native/encoder. Internal to native/engine.
#pragma once

#include <memory>

#include "encoder/bert.h"
#include "encoder/linear.h"
#include "engine/gguf_file.h"
#include "engine/model_profile.h"

namespace lorekeep::engine {

/// Returns null unless the file is a plain BERT: the architecture "bert", only tensors of the original layout with the
/// expected shapes, finite numbers, sizes that the kernels support. llama.cpp computes or refuses all others.
/// Precondition: `profile` was read from `file`. Throws bad_alloc.
std::unique_ptr<encoder::BertWeights> read_bert(std::shared_ptr<const GgufFile> file, const ModelProfile& profile,
                                                encoder::Precision precision);

/// Returns whether the weights of read_bert() read the embeddings of tokens from the file: check_mapped() after each
/// batch tells whether they were right.
bool reads_rows(const GgufFile& file) noexcept;

}  // namespace lorekeep::engine
