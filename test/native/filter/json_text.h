// Reads JSON text into a filter::Value, so that tests show predicates as their users write them. No more than tests
// need.
#pragma once

#include <string_view>

#include "filter/value.h"

namespace lorekeep::filter {

/// Throws std::invalid_argument for what it cannot read. `\uXXXX` is not supported.
Value json(std::string_view text);

}  // namespace lorekeep::filter
