#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace lorekeep {

/// An uninitialised array aligned to cache lines, so that no load of a panel touches two. Throws bad_alloc.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size)
      : data_(static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t{kLine}))), size_(size) {}

  T* data() noexcept { return data_.get(); }
  const T* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  /// Returns room for `size` values. Growing discards the content.
  T* at_least(std::size_t size) {
    if (size > size_) *this = Buffer(size);
    return data();
  }

 private:
  static constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(T* data) const noexcept { ::operator delete(data, std::align_val_t{kLine}); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace lorekeep
