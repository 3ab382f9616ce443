#include "core/files/beneath.h"

#include "harness.h"
#include "scratch_folder.h"

#if !defined(_WIN32)
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "core/system/kernel_files.h"

namespace lorekeep {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string content(const BeneathResult& result) {
  std::string text(64, '\0');
  const auto length = ::pread(result.descriptor.number(), text.data(), text.size(), 0);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

BeneathRequest file_in(const test::ScratchFolder& folder, const std::string& path) {
  BeneathRequest request;
  request.root = (folder / "root").string();
  request.path = path;
  return request;
}

TEST("a path is walked through links that stay inside, and stops at links that leave") {
  const test::ScratchFolder folder;
  write(folder / "root/kb/file", "inside");
  write(folder / "outside/file", "outside");
  fs::create_symlink("kb", folder / "root/link");
  fs::create_symlink(folder / "root/kb/file", folder / "root/absolute");
  fs::create_symlink("../outside", folder / "root/out");
  fs::create_symlink("../never/there", folder / "root/dangling");
  fs::create_symlink("../root/kb/file", folder / "root/back");
  for (const char* path : {"kb/file", "link/file", "absolute", "back"}) {
    const BeneathResult found = open_beneath(file_in(folder, path));
    CHECK(found.reached == Reached::kOpened);
    CHECK_EQ(found.name, std::string("kb/file"));
    CHECK_EQ(content(found), std::string("inside"));
  }
  for (const char* path : {"out/file", "out/absent", "out", "dangling"}) {
    CHECK(open_beneath(file_in(folder, path)).reached == Reached::kOutside);
  }
  for (const char* path : {"absent", "kb", "kb/file/below", ""}) {
    CHECK(open_beneath(file_in(folder, path)).reached == Reached::kAbsent);
  }
}

TEST("files that are closed are closed under every name, and what the kernel shows is closed") {
  const test::ScratchFolder folder;
  write(folder / "root/own", "secret");
  fs::create_hard_link(folder / "root/own", folder / "root/alias");
  BeneathRequest request = file_in(folder, "alias");
  request.closed = {(folder / "root/own").string()};
  CHECK(open_beneath(request).reached == Reached::kClosed);
  request = file_in(folder, "");
  request.logs = (folder / "root").string();
  for (const char* name : {"service.log", "SERVICE.1.LOG", "other.txt"}) {
    write(folder / "root" / name, "line");
    request.path = name;
    CHECK((open_beneath(request).reached == Reached::kClosed) == (std::string_view(name) != "other.txt"));
  }
  request.root = "/";
  for (const char* path : {"proc/self/environ", "sys/kernel", "dev/null", "dev/never-there"}) {
    request.path = path;
    CHECK(open_beneath(request).reached == Reached::kClosed);
  }
  CHECK(is_kernel_path("/proc"));
  CHECK(is_kernel_path("/dev/shm"));
  CHECK(!is_kernel_path("/process"));
}

TEST("a root in a sealed folder reaches nothing, under any of its names") {
  const test::ScratchFolder folder;
  write(folder / "sealed/deep/file", "secret");
  write(folder / "beside/file", "open");
  fs::create_directory_symlink("../sealed", folder / "beside/way");
  BeneathRequest request;
  request.sealed = {(folder / "sealed").string(), (folder / "absent").string()};
  request.path = "file";
  for (const char* root : {"sealed", "sealed/deep", "sealed/deep/../deep", "beside/way/deep", "beside/way"}) {
    request.root = (folder / root).string();
    CHECK(open_beneath(request).reached == Reached::kClosed);
  }
  request.root = (folder / "beside").string();
  CHECK(open_beneath(request).reached == Reached::kOpened);
}

TEST("a file that is swapped for a link while paths are walked never leads outside") {
  const test::ScratchFolder folder;
  write(folder / "root/kb/file", "inside");
  write(folder / "outside/file", "outside");
  std::atomic<bool> done{false};
  std::thread swapper([&] {
    const fs::path own = folder / "root/kb";
    const fs::path aside = folder / "root/aside";
    while (!done) {
      fs::rename(own, aside);
      fs::create_directory_symlink("../outside", own);
      fs::remove(own);
      fs::rename(aside, own);
    }
  });
  int opened = 0;
  int attempts = 0;
  for (; attempts < 20000 && (attempts < 2000 || opened == 0); ++attempts) {
    const BeneathResult found = open_beneath(file_in(folder, "kb/file"));
    if (found.reached != Reached::kOpened) continue;
    ++opened;
    CHECK_EQ(content(found), std::string("inside"));
  }
  done = true;
  swapper.join();
  CHECK(opened > 0);
}

}  // namespace
}  // namespace lorekeep
#endif
