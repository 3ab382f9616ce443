// Reads a file front to back through a bounded window. Unlike a mapping, it survives truncation meanwhile, which
// happens because editors save records files in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "core/values/checksum.h"
#include "store/file_identity.h"

namespace lorekeep::store {

class FileWindow {
 public:
  /// Readable bytes after text(), with any content.
  static constexpr std::size_t kPadding = 64;

  /// `capacity` is the largest size of text(). Throws Error(kNotFound) or Error(kIo), naming the path.
  FileWindow(const std::filesystem::path& path, std::size_t capacity);

  /// The content of the window; valid until advance().
  std::string_view text() const noexcept { return {buffer_.get(), size_}; }
  /// Returns whether the window reaches the end of the file.
  bool complete() const noexcept { return complete_; }
  /// Drops everything before text()[keep], moves the rest to the front and reads on. Throws Error(kIo).
  void advance(std::size_t keep);

  /// Returns the line of text()[at], from 1. Precondition: at <= text().size().
  std::size_t line_of(std::size_t at) const noexcept;
  const std::string& name() const noexcept { return name_; }
  /// The size when the file was opened.
  std::uint64_t file_size() const noexcept { return identity_.stamp.size; }
  /// Throws Error(kIo) if the size or the time of change differ from those on opening.
  void check_unchanged() const;
  /// Precondition: complete().
  FileIdentity identity() const noexcept;

 private:
  void fill();

  std::filesystem::path path_;
  std::string name_;
  FileIdentity identity_;  // its checksum is not yet set
  RunningChecksum checksum_;
  std::ifstream file_;
  std::size_t capacity_ = 0;
  std::unique_ptr<char[]> buffer_;  // capacity_ + kPadding
  std::size_t size_ = 0;
  std::size_t dropped_lines_ = 0;
  bool complete_ = false;
};

}  // namespace lorekeep::store
