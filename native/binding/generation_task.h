#pragma once

#include <napi.h>

#include <memory>

#include "binding/environment.h"
#include "binding/handle.h"
#include "lm/inference_thread.h"

namespace lorekeep::binding {

/// generate(request, onPiece): starts a generation and returns [promise of the result, cancel()]. The pieces that
/// onPiece(text, thinking) gets come before the promise settles. Throws Error(kInvalidArgument).
Napi::Value start_generation(const Napi::CallbackInfo& info, HandleBase* owner,
                             std::shared_ptr<lm::GenerationModel> model);

}  // namespace lorekeep::binding
