#include "store/file_window.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "core/error.h"

namespace lorekeep::store {
namespace {

[[noreturn]] void refuse(Code code, const std::string& name, const char* reason) {
  fail(code, name + ": " + reason, {{"file", name}});
}

std::size_t count_lines(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

FileWindow::FileWindow(const std::filesystem::path& path, std::size_t capacity) : path_(path) {
  const std::u8string name = path.u8string();
  name_.assign(name.begin(), name.end());
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) refuse(Code::kNotFound, name_, "the file does not exist");
  if (error || !std::filesystem::is_regular_file(status)) refuse(Code::kIo, name_, "not a file that can be read");
  file_size_ = std::filesystem::file_size(path, error);
  if (!error) changed_ = std::filesystem::last_write_time(path, error);
  file_.rdbuf()->pubsetbuf(nullptr, 0);  // the window is the buffer
  file_.open(path, std::ios::binary);
  if (error || !file_) refuse(Code::kIo, name_, "the file cannot be opened");
  capacity_ = static_cast<std::size_t>(std::min<std::uintmax_t>(capacity, file_size_ + 1));
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
    size_ += static_cast<std::size_t>(file_.gcount());
    if (file_.bad()) refuse(Code::kIo, name_, "reading failed");
    complete_ = file_.eof();
  }
}

std::size_t FileWindow::line_of(std::size_t at) const noexcept {
  return 1 + dropped_lines_ + count_lines(text().substr(0, at));
}

void FileWindow::check_unchanged() const {
  std::error_code error;
  const bool same = std::filesystem::file_size(path_, error) == file_size_ && !error &&
                    std::filesystem::last_write_time(path_, error) == changed_ && !error;
  if (!same) refuse(Code::kIo, name_, "the file was changed while it was read");
}

}  // namespace lorekeep::store
