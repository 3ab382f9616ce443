#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace lorekeep::vector {

/// Zeroed memory aligned to cache lines. Large buffers request huge pages, because a graph search reads rows all over a
/// matrix, and with 4 KiB pages most first reads would also miss the TLB.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// Throws Error(kOutOfMemory) naming the size.
  explicit AlignedBuffer(std::size_t size);
  ~AlignedBuffer();
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  /// The buffer as an array of T.
  template <class T>
  T* as() noexcept {
    return reinterpret_cast<T*>(data_);
  }
  template <class T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lorekeep::vector
