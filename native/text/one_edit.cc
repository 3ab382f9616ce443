#include "text/one_edit.h"

#include <algorithm>
#include <cstddef>

namespace lorekeep::text {

bool is_one_edit(std::u32string_view a, std::u32string_view b) noexcept {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() > b.size() + 1 || a == b) return false;
  const auto differs = static_cast<std::size_t>(std::mismatch(b.begin(), b.end(), a.begin()).first - b.begin());
  if (a.size() > b.size()) return a.substr(differs + 1) == b.substr(differs);
  if (a.substr(differs + 1) == b.substr(differs + 1)) return true;
  return differs + 1 < a.size() && a[differs] == b[differs + 1] && a[differs + 1] == b[differs] &&
         a.substr(differs + 2) == b.substr(differs + 2);
}

}  // namespace lorekeep::text
