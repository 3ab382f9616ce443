// Little-endian reading and writing of plain values. Reading past the end throws an error that names the source.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/values/error.h"

namespace lorekeep {

static_assert(std::endian::native == std::endian::little, "the file formats are little-endian and read in place");

class ByteReader {
 public:
  /// `name` is the source's name in errors, usually the file's path; it must outlive the reader.
  ByteReader(std::span<const std::byte> bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  std::size_t offset() const noexcept { return offset_; }
  std::size_t remaining() const noexcept { return bytes_.size() - offset_; }

  template <class T>
  T read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// Returns the next `size` bytes, in place. Throws Error(kCorrupt) if fewer remain.
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > remaining()) {
      fail_file(Code::kCorrupt, std::string(name_),
                "truncated: " + std::to_string(size) + " bytes needed at offset " + std::to_string(offset_) + ", " +
                    std::to_string(remaining()) + " left");
    }
    const auto part = bytes_.subspan(offset_, static_cast<std::size_t>(size));
    offset_ += part.size();
    return part;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view name_;
  std::size_t offset_ = 0;
};

class ByteWriter {
 public:
  template <class T>
  void write(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(std::as_bytes(std::span(&value, 1)));
  }
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::size_t size() const noexcept { return bytes_.size(); }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace lorekeep
