#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorekeep {

/// Many texts in one block of memory: no allocation per text, and one move hands all of them to a worker.
class TextArena {
 public:
  void append(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
  }
  /// Room for `bytes` of text, so that appending them moves nothing. Room that is not used costs addresses, not memory.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  std::size_t size() const noexcept { return ends_.size(); }
  /// Bytes of all texts together.
  std::size_t text_bytes() const noexcept { return bytes_.size(); }
  /// UTF-8. Valid until the next append. Precondition: index < size().
  std::string_view operator[](std::size_t index) const noexcept {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }
  std::size_t memory_bytes() const noexcept { return bytes_.capacity() + ends_.capacity() * sizeof(std::uint64_t); }
  void shrink_to_fit() {
    bytes_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace lorekeep
