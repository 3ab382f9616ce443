#pragma once

#include <string_view>

namespace lorekeep::text {

/// Returns whether one insertion, deletion or substitution of a character, or one exchange of two neighbours, makes b
/// of a. False for equal words.
bool is_one_edit(std::u32string_view a, std::u32string_view b) noexcept;

}  // namespace lorekeep::text
