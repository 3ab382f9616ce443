// A position in a JSON document: a chain on the stack, formatted only for errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lorekeep::filter {

class JsonPath {
 public:
  JsonPath() = default;  // the document itself, "$"
  /// A child of `parent`, which must outlive it.
  JsonPath(const JsonPath& parent, std::string_view key) : parent_(&parent), key_(key) {}
  JsonPath(const JsonPath& parent, std::size_t index) : parent_(&parent), index_(index) {}

  /// Returns for example `$.and[1]["=="][0].knowledge`; quotes keys that are not identifiers.
  std::string text() const;

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  const JsonPath* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = kNoIndex;
};

}  // namespace lorekeep::filter
