#pragma once

#include <napi.h>

#include <memory>

#include "store/lexical_options.h"

namespace lorekeep::binding {

/// Reads {syntax, fuzziness, boosts, stopwords, synonyms} of lib/boundary/native.ts; null for undefined. Throws
/// Error(kInvalidArgument).
std::shared_ptr<const store::LexicalOptions> lexical_argument(const Napi::Value& value);

}  // namespace lorekeep::binding
