// "Did you mean ...?" for names that do not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lorekeep::filter {

/// The name closest to `wanted` by edit distance (insertion, deletion, substitution and swap of neighbours cost 1, a
/// change of ASCII case nothing), the first of equals; empty when none is close enough to be a slip of the hand: more
/// than a third of the longer name, and more than one edit, away.
std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace lorekeep::filter
