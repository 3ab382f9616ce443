#include "core/files/atomic_file.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "harness.h"
#include "scratch_folder.h"

namespace lorekeep {
namespace {

// Old, because Windows tells the file of a killed writer by its age.
void touch(const std::filesystem::path& path) {
  std::ofstream(path) << "left behind";
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
}

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

constexpr std::array<std::byte, 4> kBytes{};

Refusal anything(const FoundFile&) {
  return {};
}

TEST("what a killed writer left is removed by the next writer of the file, and nothing else is") {
  const test::ScratchFolder folder;
  const auto target = folder / "kb.index";
  const auto stray = folder / "kb.index.999999-3.tmp";
  for (const char* name : {"kb.index.999999-3.tmp", "other.index.999999-3.tmp", "kb.index.tmp", "kb.index.1-2.tmp.old",
                           "kb.index.notes.tmp", "kb.index"}) {
    touch(folder / name);
  }
  {
    AtomicFile file(target, anything);
    CHECK(!std::filesystem::exists(stray));
    CHECK_EQ(files_in(folder.path()), 6u);  // five that were there, and this writer's own
    file.write(kBytes);
    file.commit();
  }
  CHECK_EQ(files_in(folder.path()), 5u);
  CHECK_EQ(std::filesystem::file_size(target), 4u);
}

TEST("the temporary file of a living writer stays") {
  const test::ScratchFolder folder;
  AtomicFile first(folder / "kb.index", anything);
  first.write(kBytes);
  AtomicFile second(folder / "kb.index", anything);
  CHECK_EQ(remove_stray_files(folder / "kb.index"), 0u);
  CHECK_EQ(files_in(folder.path()), 2u);
  first.commit();
  second.commit();
  CHECK_EQ(files_in(folder.path()), 1u);
}

#if !defined(_WIN32)
TEST("a file that is replaced keeps its permissions, and the file beside it is never more open") {
  namespace fs = std::filesystem;
  const test::ScratchFolder folder;
  const auto target = folder / "kb.bm25";
  for (const auto mode : {fs::perms::owner_read | fs::perms::owner_write, fs::perms(0664), fs::perms(0444)}) {
    fs::remove(target);
    touch(target);
    fs::permissions(target, mode);
    AtomicFile file(target, anything);
    for (const auto& entry : fs::directory_iterator(folder.path())) CHECK(entry.status().permissions() == mode);
    file.write(kBytes);
    file.commit();
    CHECK(fs::status(target).permissions() == mode);
    CHECK_EQ(fs::file_size(target), 4u);
  }
}
#endif

TEST("a folder that is not there has no strays") {
  const test::ScratchFolder folder;
  CHECK_EQ(remove_stray_files(folder / "absent" / "kb.index"), 0u);
}

}  // namespace
}  // namespace lorekeep
