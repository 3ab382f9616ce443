#include "core/system/cpu_quota.h"

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "harness.h"
#include "scratch_folder.h"

namespace {

using namespace lorekeep;
using lorekeep::test::ScratchFolder;

constexpr std::size_t kNone = 0;

/// Processors under a root that holds these files: name below the root, content. kNone: no limit.
std::size_t quota_of(std::initializer_list<std::pair<std::string, std::string>> files) {
  const ScratchFolder root;
  for (const auto& [name, content] : files) {
    const std::filesystem::path path = root / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  const std::optional<std::size_t> quota = cpu_quota(root.path());
  CHECK(!quota || *quota > 0);
  return quota.value_or(kNone);
}

const std::string kGroups = "proc/self/cgroup";
const std::string kMount = "sys/fs/cgroup/";

TEST("without control groups there is no quota") {
  CHECK_EQ(quota_of({}), kNone);
  CHECK_EQ(quota_of({{kGroups, ""}}), kNone);
  CHECK_EQ(quota_of({{kGroups, "0::/\n"}}), kNone);
  CHECK_EQ(quota_of({{kMount + "cpu.max", "100000 100000\n"}}), kNone);
}

TEST("a container's quota is rounded up to processors") {
  const auto of = [](const std::string& content) {
    return quota_of({{kGroups, "0::/\n"}, {kMount + "cpu.max", content}});
  };
  CHECK_EQ(of("100000 100000\n"), 1u);
  CHECK_EQ(of("1000 100000\n"), 1u);
  CHECK_EQ(of("150000 100000\n"), 2u);
  CHECK_EQ(of("200000 100000\n"), 2u);
  CHECK_EQ(of("400000 50000"), 8u);
  CHECK_EQ(of("max 100000\n"), kNone);
}

TEST("what is no quota is none") {
  for (const char* content : {"", "\n", "max", "100000", " ", "x 100000", "100000 x", "0 100000", "100000 0",
                              "-1 100000", "99999999999999999999999 1", "1e5 100000", "100000  100000", "\xff\xfe 1"}) {
    CHECK_EQ(quota_of({{kGroups, "0::/\n"}, {kMount + "cpu.max", content}}), kNone);
  }
  CHECK_EQ(quota_of({{kGroups, "0::/\n"}, {kMount + "cpu.max", "18446744073709551615 1000\n"}}), 18446744073709552u);
  CHECK_EQ(quota_of({{kGroups, "0::/\n"}, {kMount + "cpu.max", std::string(1 << 20, '9')}}), kNone);
}

TEST("the least quota counts, of the process's own group and of those above it") {
  const std::string slice = kMount + "system.slice/";
  CHECK_EQ(quota_of({{kGroups, "0::/system.slice/lorekeep.service\n"},
                     {slice + "cpu.max", "300000 100000\n"},
                     {slice + "lorekeep.service/cpu.max", "max 100000\n"}}),
           3u);
  CHECK_EQ(quota_of({{kGroups, "0::/system.slice/lorekeep.service\n"},
                     {slice + "cpu.max", "300000 100000\n"},
                     {slice + "lorekeep.service/cpu.max", "120000 100000\n"},
                     {slice + "other.service/cpu.max", "10000 100000\n"}}),
           2u);
#if !defined(_WIN32)  // where names have no colons
  CHECK_EQ(quota_of({{kGroups, "0::/a:b/c d\n"}, {kMount + "a:b/c d/cpu.max", "500000 100000\n"}}), 5u);
#endif
}

TEST("a path that is not mounted leaves the mount, which is the container's own group") {
  const std::string outside = "/kubepods.slice/pod1.slice/container.scope\n";
  CHECK_EQ(quota_of({{kGroups, "0::" + outside}, {kMount + "cpu.max", "200000 100000\n"}}), 2u);
  CHECK_EQ(quota_of({{kGroups, "0::/../../sibling\n"},
                     {kMount + "cpu.max", "200000 100000\n"},
                     {"sys/sibling/cpu.max", "100000 100000\n"}}),
           2u);
  CHECK_EQ(quota_of({{kGroups, "4:cpu,cpuacct:" + outside},
                     {kMount + "cpu,cpuacct/cpu.cfs_quota_us", "150000\n"},
                     {kMount + "cpu,cpuacct/cpu.cfs_period_us", "100000\n"}}),
           2u);
}

TEST("version 1 is found under either name of its mount") {
  for (const char* mount : {"cpu/", "cpu,cpuacct/"}) {
    const std::string group = kMount + mount + "docker/";
    const auto of = [&group](const char* quota, const char* period) {
      return quota_of({{kGroups, "12:memory:/docker\n4:cpu,cpuacct:/docker\n1:name=systemd:/docker\n"},
                       {group + "cpu.cfs_quota_us", quota},
                       {group + "cpu.cfs_period_us", period}});
    };
    CHECK_EQ(of("250000\n", "100000\n"), 3u);
    CHECK_EQ(of("-1\n", "100000\n"), kNone);
    CHECK_EQ(of("100000\n", ""), kNone);
  }
  CHECK_EQ(quota_of({{kGroups, "3:cpuset:/\n2:cpuacct:/\n"},
                     {kMount + "cpu/cpu.cfs_quota_us", "100000\n"},
                     {kMount + "cpu/cpu.cfs_period_us", "100000\n"}}),
           kNone);
}

TEST("of both versions at once, the least counts") {
  const std::initializer_list<std::pair<std::string, std::string>> files = {
      {kGroups, "4:cpu:/a\n0::/a\n"},
      {kMount + "cpu/a/cpu.cfs_quota_us", "400000\n"},
      {kMount + "cpu/a/cpu.cfs_period_us", "100000\n"},
      {kMount + "a/cpu.max", "300000 100000\n"},
  };
  CHECK_EQ(quota_of(files), 3u);
}

TEST("damaged lists of groups cost nothing but the quota") {
  for (const char* groups : {"0", "0:", "::", "0::", ":::::", "\n\n\n", "\xff\xff:\xff:\xff"}) {
    quota_of({{kGroups, groups}});
  }
  quota_of({{kGroups, "0::/" + std::string(100'000, 'a') + "\n"}});
  std::string deep = "0::";
  for (int i = 0; i < 2000; ++i) deep += "/a";
  quota_of({{kGroups, deep + "\n"}, {kMount + "a/cpu.max", "100000 100000\n"}});
}

}  // namespace
