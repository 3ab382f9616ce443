// Where in a JSON document a reader is: a chain on the stack, made into text only for an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lorekeep::filter {

class JsonPath {
 public:
  JsonPath() = default;  // the document itself, "$"
  /// A part of `parent`, which must outlive it.
  JsonPath(const JsonPath& parent, std::string_view key) : parent_(&parent), key_(key) {}
  JsonPath(const JsonPath& parent, std::size_t index) : parent_(&parent), index_(index) {}

  /// For example `$.and[1]["=="][0].knowledge`: keys that are no identifiers are quoted.
  std::string text() const;

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  const JsonPath* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = kNoIndex;
};

}  // namespace lorekeep::filter
