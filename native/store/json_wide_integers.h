// Rewrites integers beyond 64 bits as reals, because the JSON parser refuses them.
#pragma once

#include <string>
#include <string_view>

namespace lorekeep::store {

/// Returns `json` with `e0` appended to every integer outside of int64 and uint64, so that it is parsed as the nearest
/// double. Everything else, valid or not, is unchanged.
std::string wide_integers_as_reals(std::string_view json);

}  // namespace lorekeep::store
