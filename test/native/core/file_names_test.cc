// Paths with spaces and characters of several scripts, on every platform.
#include <array>
#include <chrono>
#include <filesystem>
#include <string>

#include "core/files/atomic_file.h"
#include "core/files/file_id.h"
#include "core/files/mapped_file.h"
#include "core/files/utf8_path.h"
#include "core/values/error.h"
#include "harness.h"
#include "scratch_folder.h"

namespace lorekeep {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::byte, 3> kContents{std::byte{'o'}, std::byte{'n'}, std::byte{'e'}};

Refusal accept_all(const FoundFile&) {
  return {};
}

Refusal refuse_all(const FoundFile&) {
  return {"is somebody's", {}};
}

/// A folder in `folder` whose name no system's code page holds.
fs::path strange(const test::ScratchFolder& folder) {
  const fs::path path = folder.path() / u8"Übung und 目录 с пробелами";
  fs::create_directory(path);
  return path;
}

std::string name_of(const fs::path& path) {
  return utf8_path(path);
}

TEST("files are written, mapped and replaced under names of any script") {
  const test::ScratchFolder folder;
  const fs::path path = strange(folder) / u8"модель é.index";
  for (int round = 0; round < 2; ++round) {
    AtomicFile file(path, accept_all);
    file.write(kContents);
    file.commit();
  }
  const MappedFile mapped(path);
  CHECK_EQ(mapped.bytes().size(), kContents.size());
  CHECK(mapped.bytes()[1] == std::byte{'n'});
  CHECK_EQ(mapped.name(), name_of(path));
  mapped.check_unchanged();
}

TEST("a mapped file that is replaced by a rename is noticed, and a removed one is no error") {
  const test::ScratchFolder folder;
  const fs::path path = strange(folder) / u8"модель.gguf";
  test::write_file(path, std::array<std::uint8_t, 1>{7});
  const MappedFile mapped(path);
  mapped.check_same_at_path();
  const fs::path moved = folder.path() / "moved";
  fs::rename(path, moved);
  mapped.check_same_at_path();  // nothing is there
  test::write_file(path, std::array<std::uint8_t, 1>{7});
  CHECK(file_id(path) != file_id(moved));
  CHECK_FAILS(Code::kCorrupt, mapped.check_same_at_path());
  fs::remove(path);
  fs::rename(moved, path);
  mapped.check_same_at_path();
}

TEST("a file has one identity under all of its names, and a path that leads nowhere has none") {
  const test::ScratchFolder folder;
  const fs::path path = strange(folder) / u8"é.gguf";
  test::write_file(path, std::array<std::uint8_t, 1>{7});
  const fs::path linked = folder.path() / "linked";
  fs::create_hard_link(path, linked);
  CHECK(file_id(path).has_value());
  CHECK(file_id(path) == file_id(linked));
  CHECK(file_id(path) != file_id(folder.path()));
  CHECK(!file_id(folder.path() / "absent").has_value());
}

TEST("what killed writers left under such names is removed") {
  const test::ScratchFolder folder;
  const fs::path inside = strange(folder);
  fs::path stray = inside / u8"é.index";
  stray += ".999999-3.tmp";
  test::write_file(stray, {});
  // Windows tells the file of a killed writer by its age.
  fs::last_write_time(stray, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CHECK_EQ(remove_stray_files(inside / u8"é.index"), 1u);
  CHECK(!fs::exists(stray));
}

TEST("errors name such files in UTF-8") {
  const test::ScratchFolder folder;
  const fs::path path = strange(folder) / u8"é.index";
  const auto message_of = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message_of([&] { MappedFile missing(path); }).starts_with(name_of(path) + ": cannot open"));
  test::write_file(path, std::array<std::uint8_t, 1>{7});
  CHECK(message_of([&] { AtomicFile file(path, refuse_all); }).find(name_of(path)) != std::string::npos);
}

}  // namespace
}  // namespace lorekeep
