#pragma once

#include <napi.h>

namespace lorekeep::binding {

/// matchGrammar(grammar, text): compares a text with a GBNF grammar: 0 refused, 1 a beginning, 2 conforms. Rejects with
/// INVALID_ARGUMENT if the grammar cannot be used.
Napi::Value match_grammar(const Napi::CallbackInfo& info);

/// probeVocabulary(path, parts): the tokens that a prompt of these parts gets from the vocabulary of a GGUF file, which
/// may lack weights. For tests.
Napi::Value probe_vocabulary(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
