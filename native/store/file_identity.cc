#include "store/file_identity.h"

#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "core/files/utf8_path.h"
#include "core/values/checksum.h"
#include "core/values/error.h"

namespace lorekeep::store {
namespace {

using Clock = std::filesystem::file_time_type::clock;

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kFilesPerPoll = 64;
constexpr std::chrono::seconds kSettlingTime{2};  // the clock of FAT, the coarsest of common file systems

[[noreturn]] void refuse(Code code, const std::filesystem::path& path, const std::string& reason) {
  fail_file(code, utf8_path(path), reason);
}

}  // namespace

void refuse_changed(const std::filesystem::path& path) {
  fail_file(Code::kIo, utf8_path(path), "the file was changed while it was read",
            {{"mismatch", std::string("content")}});
}

void refuse_open(const std::filesystem::path& path) {
  const int code = errno;
  const std::string name = utf8_path(path);
  fail(Code::kIo, name + ": cannot be opened: " + std::generic_category().message(code),
       {{"file", name}, {"errno", std::int64_t{code}}});
}

FileStamp read_stamp(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) refuse(Code::kNotFound, path, "the file does not exist");
  if (error) refuse(Code::kIo, path, "cannot be read: " + error.message());
  if (std::filesystem::is_directory(status)) refuse(Code::kIo, path, "is a folder; a file is expected");
  if (!std::filesystem::is_regular_file(status)) refuse(Code::kIo, path, "cannot be read: not a regular file");
  FileStamp stamp;
  stamp.size = std::filesystem::file_size(path, error);
  if (error) refuse(Code::kIo, path, "its size cannot be read");
  stamp.changed = std::filesystem::last_write_time(path, error).time_since_epoch().count();
  if (error) refuse(Code::kIo, path, "its time cannot be read");
  return stamp;
}

std::vector<std::uint64_t> file_sizes(std::span<const std::filesystem::path> files, const std::filesystem::path& folder,
                                      const CancelToken& cancel) {
  std::vector<std::uint64_t> sizes;
  const auto add = [&](const std::filesystem::path& path) {
    if (sizes.size() % kFilesPerPoll == 0) cancel.check();
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(path, error);
    const std::uint64_t size = is_file ? std::filesystem::file_size(path, error) : 0;
    sizes.push_back(error ? 0 : size);
  };
  for (const std::filesystem::path& file : files) add(file);
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) add(entry->path());
  return sizes;
}

bool is_settled(const FileStamp& stamp) noexcept {
  const Clock::time_point changed{Clock::duration{stamp.changed}};
  return Clock::now() - changed > kSettlingTime;
}

FileIdentity identify_file(const std::filesystem::path& path, const CancelToken* cancel) {
  FileIdentity identity;
  identity.stamp = read_stamp(path);
  identity.settled = is_settled(identity.stamp);
  const auto buffer = std::make_unique<char[]>(kBufferBytes);
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);
  file.open(path, std::ios::binary);
  if (!file) refuse_open(path);
  RunningChecksum checksum;
  while (!file.eof()) {
    if (cancel != nullptr) cancel->check();
    file.read(buffer.get(), kBufferBytes);
    if (file.bad()) refuse(Code::kIo, path, "reading failed");
    checksum.update(std::as_bytes(std::span(buffer.get(), static_cast<std::size_t>(file.gcount()))));
  }
  if (read_stamp(path) != identity.stamp) refuse_changed(path);
  identity.checksum = checksum.value();
  return identity;
}

}  // namespace lorekeep::store
