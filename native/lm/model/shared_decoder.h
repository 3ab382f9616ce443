// One copy of the packed weights of each file, however often it is loaded. Internal to native/lm.
#pragma once

#include <memory>
#include <string>

#include "core/threads/cancel_token.h"
#include "engine/decoder_file.h"

namespace lorekeep::lm {

/// Returns the weights of the file with this fingerprint: shared with a loaded model, else packed on
/// several threads. Precondition: `plan` was made for `file`, and suits it. Throws bad_alloc, Error(kCancelled).
std::shared_ptr<const decoder::DecoderWeights> shared_decoder(const std::string& fingerprint,
                                                              const engine::GgufFile& file,
                                                              const engine::DecoderPlan& plan,
                                                              const CancelToken* cancel);

}  // namespace lorekeep::lm
