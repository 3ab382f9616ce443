#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/values/wipe.h"

namespace lorekeep {

/// Many texts in one block of memory, without an allocation per text, or read-only in a mapped file. Cheap to move.
class TextArena {
 public:
  TextArena() = default;
  /// A read-only view of texts stored elsewhere: text i is [ends[i-1], ends[i]) of `bytes`. `owner` keeps the memory
  /// alive. Precondition: the caller has checked the ends.
  TextArena(std::string_view bytes, std::span<const std::uint64_t> ends, std::shared_ptr<const void> owner)
      : mapped_bytes_(bytes), mapped_ends_(ends), owner_(std::move(owner)) {}

  void append(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
  }
  /// Reserves `bytes` of text, so that appending them moves nothing. Unused bytes cost address space, not memory.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  std::size_t size() const noexcept { return ends().size(); }
  /// Bytes of all texts together.
  std::size_t text_bytes() const noexcept { return bytes().size(); }
  /// All texts, one after the other, and the end of each.
  std::string_view bytes() const noexcept { return owner_ ? mapped_bytes_ : std::string_view(bytes_); }
  std::span<const std::uint64_t> ends() const noexcept { return owner_ ? mapped_ends_ : std::span(ends_); }
  /// UTF-8. Valid until the next append. Precondition: index < size().
  std::string_view operator[](std::size_t index) const noexcept {
    const std::uint64_t* const ends = this->ends().data();
    const std::size_t begin = index == 0 ? 0 : ends[index - 1];
    return {bytes().data() + begin, ends[index] - begin};
  }
  /// Heap and mapped bytes together.
  std::size_t memory_bytes() const noexcept {
    return bytes_.capacity() + ends_.capacity() * sizeof(std::uint64_t) + mapped_bytes_.size() +
           mapped_ends_.size_bytes();
  }
  /// Overwrites the texts with zeros, unless they are stored elsewhere, and drops them.
  void wipe() noexcept {
    wipe_bytes(bytes_.data(), bytes_.size());
    bytes_.clear();
    ends_.clear();
  }
  void shrink_to_fit() {
    bytes_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> ends_;
  std::string_view mapped_bytes_;
  std::span<const std::uint64_t> mapped_ends_;
  std::shared_ptr<const void> owner_;  // null: the texts are in bytes_ and ends_
};

}  // namespace lorekeep
