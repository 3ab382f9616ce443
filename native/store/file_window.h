// Reads a file front to back through a bounded window. Unlike a mapping it survives a file that is truncated meanwhile:
// people save records files in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "core/checksum.h"
#include "store/file_identity.h"

namespace lorekeep::store {

class FileWindow {
 public:
  /// Bytes that may be read behind text(), whatever they hold.
  static constexpr std::size_t kPadding = 64;

  /// `capacity` is the most that text() holds. Throws Error(kNotFound) or Error(kIo), naming the path.
  FileWindow(const std::filesystem::path& path, std::size_t capacity);

  /// What is in the window; valid until advance().
  std::string_view text() const noexcept { return {buffer_.get(), size_}; }
  /// Nothing of the file is behind the window.
  bool complete() const noexcept { return complete_; }
  /// Drops what is before text()[keep], moves the rest to the front and reads on. Throws Error(kIo).
  void advance(std::size_t keep);

  /// Line of text()[at], from 1. Precondition: at <= text().size().
  std::size_t line_of(std::size_t at) const noexcept;
  const std::string& name() const noexcept { return name_; }
  /// When it was opened.
  std::uint64_t file_size() const noexcept { return identity_.stamp.size; }
  /// Throws Error(kIo) when size or time of change are not what they were on opening.
  void check_unchanged() const;
  /// Precondition: complete().
  FileIdentity identity() const noexcept;

 private:
  void fill();

  std::filesystem::path path_;
  std::string name_;
  FileIdentity identity_;  // its checksum: not yet
  RunningChecksum checksum_;
  std::ifstream file_;
  std::size_t capacity_ = 0;
  std::unique_ptr<char[]> buffer_;  // capacity_ + kPadding
  std::size_t size_ = 0;
  std::size_t dropped_lines_ = 0;
  bool complete_ = false;
};

}  // namespace lorekeep::store
