// The `ef` nearest nodes seen so far, sorted, each expanded or not: the frontier and the result of a beam search in one
// array. A node that does not fit is further than `ef` others, so the search would never expand it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lorekeep::vector {

class CandidatePool {
 public:
  /// Precondition: node < 2^31; the distance is not negative or NaN, so that its bits as an integer keep the order.
  static std::uint64_t key_of(float distance, std::uint32_t node) noexcept {
    return (std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32) | (std::uint64_t{node} << 1);
  }
  static float distance_of(std::uint64_t key) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32));
  }
  static std::uint32_t node_of(std::uint64_t key) noexcept { return static_cast<std::uint32_t>(key) >> 1; }

  void reset(std::size_t capacity) {
    capacity_ = capacity;
    size_ = next_ = 0;
    if (keys_.size() < capacity) keys_.resize(capacity);
  }

  std::size_t size() const noexcept { return size_; }
  bool full() const noexcept { return size_ == capacity_; }
  /// Members are sorted by distance, then by node.
  float distance(std::size_t i) const noexcept { return distance_of(keys_[i]); }
  std::uint32_t node(std::size_t i) const noexcept { return node_of(keys_[i]); }

  /// Returns how many of the nearest members are expanded. Right after pop() or peek(): those before the returned node.
  std::size_t expanded() const noexcept { return next_; }

  /// Returns whether the node is now a member. Precondition: it was not offered before.
  bool insert(float distance, std::uint32_t node) noexcept {
    const std::uint64_t key = key_of(distance, node);
    if (full() && (capacity_ == 0 || key > keys_[size_ - 1])) return false;
    const auto at = static_cast<std::size_t>(std::lower_bound(keys_.begin(), end(), key) - keys_.begin());
    const std::size_t moved = (full() ? size_ - 1 : size_) - at;
    std::copy_backward(keys_.begin() + static_cast<std::ptrdiff_t>(at),
                       keys_.begin() + static_cast<std::ptrdiff_t>(at + moved),
                       keys_.begin() + static_cast<std::ptrdiff_t>(at + moved + 1));
    keys_[at] = key;
    if (!full()) ++size_;
    next_ = std::min(next_, at);
    return true;
  }

  /// Sets `node` to the nearest unexpanded member and marks it as expanded. Returns false if there is none.
  bool pop(std::uint32_t& node) noexcept {
    if (!peek(node)) return false;
    keys_[next_] |= kExpanded;
    return true;
  }
  /// Sets `node` to the next node of pop(). Returns false if there is none.
  bool peek(std::uint32_t& node) noexcept {
    while (next_ < size_ && (keys_[next_] & kExpanded) != 0) ++next_;
    if (next_ == size_) return false;
    node = node_of(keys_[next_]);
    return true;
  }

 private:
  static constexpr std::uint64_t kExpanded = 1;

  std::vector<std::uint64_t>::iterator end() noexcept { return keys_.begin() + static_cast<std::ptrdiff_t>(size_); }

  std::vector<std::uint64_t> keys_;  // the first size_ are in use
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t next_ = 0;  // all members before it are expanded
};

}  // namespace lorekeep::vector
