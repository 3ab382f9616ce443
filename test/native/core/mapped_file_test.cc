// Files that the address space has no room for.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "core/files/mapped_file.h"
#include "core/values/error.h"
#include "harness.h"
#include "scratch_folder.h"

namespace lorekeep {
namespace {

/// Size of a sparse file, and more mappings of it than a process has address space for.
constexpr std::uintmax_t kBytes = std::uintmax_t{1} << 43;
constexpr std::size_t kMappings = 200;

TEST("a file that cannot be mapped for lack of memory is out of memory, not a fault of the file") {
  const test::ScratchFolder folder;
  const auto path = folder / "large";
  test::write_file(path, {});
  std::error_code error;
  std::filesystem::resize_file(path, kBytes, error);
  if (error) return;  // the file system has no files of this size
  std::vector<std::unique_ptr<MappedFile>> mapped;
  CHECK_FAILS(Code::kOutOfMemory,
              while (mapped.size() < kMappings) mapped.push_back(std::make_unique<MappedFile>(path)));
  CHECK(!mapped.empty());
}

}  // namespace
}  // namespace lorekeep
