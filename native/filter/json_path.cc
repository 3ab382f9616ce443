#include "filter/json_path.h"

#include <algorithm>

namespace lorekeep::filter {
namespace {

bool is_identifier(std::string_view key) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !key.empty() && !digit(key[0]) &&
         std::all_of(key.begin(), key.end(), [&](char c) { return letter(c) || digit(c); });
}

}  // namespace

std::string JsonPath::text() const {
  if (parent_ == nullptr) return "$";
  std::string text = parent_->text();
  if (index_ != kNoIndex) return text + "[" + std::to_string(index_) + "]";
  if (is_identifier(key_)) return text + "." + std::string(key_);
  text += "[\"";
  for (const char c : key_) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"]";
}

}  // namespace lorekeep::filter
