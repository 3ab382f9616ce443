// Chooses the compute settings of a model by measuring. Internal to native/engine.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/threads/cancel_token.h"
#include "engine/compute_settings.h"
#include "engine/runtimes.h"
#include "engine/vocabulary.h"

namespace lorekeep::engine {

struct Measured {
  ComputeSettings settings;
  Runtime runtime;
};

/// Creates a runtime; null if it cannot compute the model after all.
using MakeRuntime = std::function<std::unique_ptr<Runtime>()>;

/// Times `reference`, then each of `others`, on the same synthetic texts, then several batch sizes with the fastest.
/// Uses this thread's processor time, so that other processes do not affect the result. Rejects a runtime whose vectors
/// differ from the reference's (cosine below 0.999) or that is hardly faster than an earlier one. At most two runtimes
/// exist at a time. Takes some 20 batches. Throws as BatchComputer::compute(), and Error(kCancelled).
Measured measure(Runtime reference, std::span<const MakeRuntime> others, const Vocabulary& vocabulary,
                 std::uint32_t longest, std::size_t dimension, const CancelToken* cancel);

/// Returns settings that suit most models and machines, for use without a measurement.
ComputeSettings default_settings(std::string_view runtime);

}  // namespace lorekeep::engine
