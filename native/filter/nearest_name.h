// "Did you mean ...?" for unknown names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lorekeep::filter {

/// Returns the first name closest to `wanted` by edit distance (insertion, deletion, substitution and swap of
/// neighbours cost 1, a change of ASCII case 0). Empty if none is within one edit or a third of the longer name.
std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace lorekeep::filter
