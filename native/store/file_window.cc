#include "store/file_window.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/files/utf8_path.h"
#include "core/values/error.h"

namespace lorekeep::store {
namespace {

[[noreturn]] void refuse(Code code, const std::string& name, const std::string& reason) {
  fail_file(code, name, reason);
}

std::size_t count_lines(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

FileWindow::FileWindow(const std::filesystem::path& path, std::size_t capacity) : path_(path), name_(utf8_path(path)) {
  identity_.stamp = read_stamp(path);
  identity_.settled = is_settled(identity_.stamp);
  file_.rdbuf()->pubsetbuf(nullptr, 0);  // the window is the buffer
  file_.open(path, std::ios::binary);
  if (!file_) refuse_open(path);
  capacity_ = static_cast<std::size_t>(std::min<std::uint64_t>(capacity, file_size() + 1));
  buffer_ = std::make_unique<char[]>(capacity_ + kPadding);
  fill();
}

void FileWindow::advance(std::size_t keep) {
  dropped_lines_ += count_lines(text().substr(0, keep));
  size_ -= keep;
  std::memmove(buffer_.get(), buffer_.get() + keep, size_);
  fill();
}

void FileWindow::fill() {
  while (size_ < capacity_ && !complete_) {
    file_.read(buffer_.get() + size_, static_cast<std::streamsize>(capacity_ - size_));
    const auto got = static_cast<std::size_t>(file_.gcount());
    checksum_.update(std::as_bytes(std::span(buffer_.get() + size_, got)));
    size_ += got;
    if (file_.bad()) refuse(Code::kIo, name_, "reading failed");
    complete_ = file_.eof();
  }
}

std::size_t FileWindow::line_of(std::size_t at) const noexcept {
  return 1 + dropped_lines_ + count_lines(text().substr(0, at));
}

void FileWindow::check_unchanged() const {
  if (read_stamp(path_) != identity_.stamp) refuse_changed(path_);
}

FileIdentity FileWindow::identity() const noexcept {
  FileIdentity identity = identity_;
  identity.checksum = checksum_.value();
  return identity;
}

}  // namespace lorekeep::store
