#include "store/json_wide_integers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace lorekeep::store {
namespace {

template <class Integer>
bool fits(std::string_view token) {
  Integer value = 0;
  return std::from_chars(token.data(), token.data() + token.size(), value).ec == std::errc();
}

/// Returns the end of the string that begins at `at`; the end of the text if it is not closed.
std::size_t after_string(std::string_view json, std::size_t at) {
  while (++at < json.size() && json[at] != '"') at += json[at] == '\\' ? 1 : 0;
  return std::min(at + 1, json.size());
}

}  // namespace

std::string wide_integers_as_reals(std::string_view json) {
  std::string result;
  result.reserve(json.size() + 16);
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t begin = at;
    bool integer = false;
    if (json[at] == '"') {
      at = after_string(json, at);
    } else {
      // Copies numbers as a whole, everything else byte by byte.
      at = std::min(json.find_first_not_of("+-.0123456789Ee", at), json.size());
      const std::string_view token = json.substr(begin, at - begin);
      integer = !token.empty() && token.find_first_not_of("0123456789", token[0] == '-') == token.npos;
      if (token.empty()) ++at;
    }
    const std::string_view part = json.substr(begin, at - begin);
    result += part;
    if (integer && !fits<std::int64_t>(part) && !fits<std::uint64_t>(part)) result += "e0";
  }
  return result;
}

}  // namespace lorekeep::store
