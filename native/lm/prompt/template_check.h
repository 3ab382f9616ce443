// Finds what a chat template uses that the template engine has not, also in branches that no probe reaches.
#pragma once

#include <string>
#include <vector>

#include "jinja/runtime.h"

namespace lorekeep::lm {

/// Returns the filters, tests, functions and methods of a parsed template that the engine does not have, each once,
/// with the line of its first use: "line 3: the filter 'groupby'". Empty: all are known. At most `kMostConstructs`.
std::vector<std::string> unknown_constructs(const jinja::program& program, const std::string& source);

inline constexpr std::size_t kMostConstructs = 20;

}  // namespace lorekeep::lm
