// JSON has integers of any length, our parser those of 64 bits: longer ones are rewritten as reals for it.
#pragma once

#include <string>
#include <string_view>

namespace lorekeep::store {

/// `json` with `e0` behind every integer that neither int64 nor uint64 holds, which makes it the nearest double.
/// Anything else stays as it is, right or wrong.
std::string wide_integers_as_reals(std::string_view json);

}  // namespace lorekeep::store
