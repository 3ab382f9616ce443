#include "filter/value.h"

#include <charconv>

#include "core/values/utf8.h"

namespace lorekeep::filter {
namespace {

constexpr std::size_t kQuotedBytes = 60;

struct Describer {
  std::string operator()(std::nullptr_t) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
    return std::string(text, end);
  }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const Array& value) const { return "an array of " + std::to_string(value.size()); }
  std::string operator()(const Object& value) const {
    return value.size() == 1 ? "an object with the key " + quoted(value[0].key)
                             : "an object with " + std::to_string(value.size()) + " keys";
  }
};

}  // namespace

std::string describe(const Value& value) {
  return std::visit(Describer{}, value.data);
}

std::string quoted(std::string_view text) {
  if (text.size() <= kQuotedBytes) return '"' + std::string(text) + '"';
  return '"' + std::string(utf8_prefix(text, kQuotedBytes)) + "...\"";
}

}  // namespace lorekeep::filter
