// Chooses how a model is computed by computing. Internal to native/engine.
#pragma once

#include <memory>
#include <span>

#include "core/cancel_token.h"
#include "engine/compute_settings.h"
#include "engine/runtimes.h"
#include "engine/vocabulary.h"

namespace lorekeep::engine {

struct Measured {
  ComputeSettings settings;
  std::size_t runtime;  // position in the given list
};

/// Times every runtime on the same made-up texts, in processor time of this thread, so that neighbours do not decide,
/// then several batch sizes with the fastest. The last runtime is the measure of the others: one whose vectors differ
/// from its (cosine below 0.999) is not taken. `runtimes` is not empty. Takes some 20 batches; throws what computing
/// throws, and Error(kCancelled).
Measured measure(std::span<const Runtime* const> runtimes, const Vocabulary& vocabulary, std::uint32_t longest,
                 std::size_t dimension, const CancelToken* cancel);

/// What is right for most models and machines, where nothing is measured.
ComputeSettings default_settings(std::string_view runtime);

}  // namespace lorekeep::engine
