#include "core/files/file_lock.h"

#include <memory>

#include "harness.h"
#include "scratch_folder.h"

namespace lorekeep {
namespace {

TEST("one holder at a time has a file lock, and errors name its process") {
  const test::ScratchFolder folder;
  const auto path = folder / "kb.lock";
  auto lock = std::make_unique<FileLock>(path);
  try {
    const FileLock second(path);
    CHECK(false);
  } catch (const Error& error) {
    CHECK_EQ(code_name(error.code()), "IO");
    bool named = false;
    for (const auto& [name, value] : error.details()) named |= name == "holder" && std::get<std::int64_t>(value) > 0;
    CHECK(named);
  }
  lock.reset();
  CHECK_EQ(folder.entries(), std::size_t{0});
  const FileLock again(path);
}

TEST("a lock that a killed process left is taken over, and another file is left as it is") {
  const test::ScratchFolder folder;
  const std::string stale = "999999999\n";
  const std::string foreign = "my notes";
  const auto bytes = [](const std::string& text) {
    return std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  test::write_file(folder / "stale", bytes(stale));
  const FileLock lock(folder / "stale");
  test::write_file(folder / "foreign", bytes(foreign));
  CHECK_FAILS(Code::kInvalidArgument, FileLock(folder / "foreign"));
  CHECK_EQ(test::read_file(folder / "foreign").size(), foreign.size());
  CHECK_FAILS(Code::kIo, FileLock(folder / "absent" / "lock"));
}

}  // namespace
}  // namespace lorekeep
