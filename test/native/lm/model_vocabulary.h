// The vocabulary of a model file, read without llama.cpp.
#pragma once

#include <memory>
#include <string>

#include "lm/text/token_table.h"

namespace lorekeep::lm {

/// Returns null if LOREKEEP_MODELS has no such file.
std::shared_ptr<const TokenTable> model_vocabulary(const std::string& name);

}  // namespace lorekeep::lm
