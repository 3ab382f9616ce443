#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace lorekeep {

/// Immutable numbers: a vector that was handed over, or a part of a mapped file. Copies share them.
template <class T>
class Values {
 public:
  Values() = default;
  Values(std::vector<T> values) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    values_ = *owner;
    owner_ = std::move(owner);
  }
  /// `owner` keeps the memory alive.
  Values(std::span<const T> values, std::shared_ptr<const void> owner) : values_(values), owner_(std::move(owner)) {}

  std::size_t size() const noexcept { return values_.size(); }
  const T* data() const noexcept { return values_.data(); }
  /// Precondition: index < size().
  const T& operator[](std::size_t index) const noexcept { return values_[index]; }
  auto begin() const noexcept { return values_.begin(); }
  auto end() const noexcept { return values_.end(); }
  std::span<const T> span() const noexcept { return values_; }
  std::size_t memory_bytes() const noexcept { return values_.size_bytes(); }

 private:
  std::span<const T> values_;
  std::shared_ptr<const void> owner_;
};

}  // namespace lorekeep
