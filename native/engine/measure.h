// Chooses how a model is computed by computing. Internal to native/engine.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/cancel_token.h"
#include "engine/compute_settings.h"
#include "engine/runtimes.h"
#include "engine/vocabulary.h"

namespace lorekeep::engine {

struct Measured {
  ComputeSettings settings;
  Runtime runtime;
};

/// Makes a runtime; null when it cannot compute the model after all.
using MakeRuntime = std::function<std::unique_ptr<Runtime>()>;

/// Times `reference`, then each of `others`, on the same made-up texts, in processor time of this thread, so that
/// neighbours do not decide; then several batch sizes with the fastest. One whose vectors are not those of the
/// reference (cosine below 0.999) is not taken, and one that is hardly faster than what was tried before it is not,
/// either. Two runtimes exist at a time. Takes some 20 batches; throws what computing throws, and Error(kCancelled).
Measured measure(Runtime reference, std::span<const MakeRuntime> others, const Vocabulary& vocabulary,
                 std::uint32_t longest, std::size_t dimension, const CancelToken* cancel);

/// What is right for most models and machines, where nothing is measured.
ComputeSettings default_settings(std::string_view runtime);

}  // namespace lorekeep::engine
