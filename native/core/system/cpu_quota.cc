#include "core/system/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace lorekeep {
namespace {

namespace fs = std::filesystem;
using Quota = std::optional<std::size_t>;

// Longest line read from these files, in bytes.
constexpr std::size_t kLongestLine = 4096;

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.size() <= kLongestLine) lines.push_back(std::move(line));
  }
  return lines;
}

std::string first_line(const fs::path& path) {
  std::vector<std::string> lines = read_lines(path);
  return lines.empty() ? std::string() : std::move(lines.front());
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Returns quota / period, both in µs. A quota that is not a positive number ("max", "-1") means no limit.
Quota processors(std::string_view quota, std::string_view period) {
  const auto positive = [](std::string_view text) -> std::uint64_t {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
  };
  const std::uint64_t time = positive(quota);
  const std::uint64_t each = positive(period);
  if (time == 0 || each == 0) return std::nullopt;
  return static_cast<std::size_t>(1 + (time - 1) / each);
}

Quota quota_v2(const fs::path& group) {
  const std::string line = first_line(group / "cpu.max");
  const std::vector<std::string_view> parts = split(line, ' ');
  return parts.size() < 2 ? std::nullopt : processors(parts[0], parts[1]);
}

Quota quota_v1(const fs::path& group) {
  return processors(first_line(group / "cpu.cfs_quota_us"), first_line(group / "cpu.cfs_period_us"));
}

Quota lesser(Quota a, Quota b) {
  return a && b ? std::min(a, b) : (a ? a : b);
}

// Returns the least quota of the group and all groups above it, up to the mount. A container may see its group's path
// outside of the container, which is not mounted here: then the mount is the group, and absent folders set no limit.
Quota least_quota(const fs::path& mount, std::string_view group, Quota (*quota_of)(const fs::path&)) {
  fs::path path = mount;
  Quota least = quota_of(path);
  for (std::string_view name : split(group, '/')) {
    if (name.empty()) continue;
    if (name == "..") break;  // the group is outside of the visible hierarchy
    path /= name;
    least = lesser(least, quota_of(path));
  }
  return least;
}

Quota quota_under(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  Quota least;
  for (const std::string& line : read_lines(root / "proc/self/cgroup")) {
    // hierarchy:controllers:path, where only the path may contain colons; version 2 has no controllers
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = std::string_view(line).substr(second + 1);
    const std::vector<std::string_view> names = split(controllers, ',');
    if (controllers.empty()) {
      least = lesser(least, least_quota(mounts, group, quota_v2));
    } else if (std::find(names.begin(), names.end(), "cpu") != names.end()) {
      // Systems name the mount after the controller, after all controllers in it, or both, one a link to the other.
      least = lesser(least, least_quota(mounts / "cpu", group, quota_v1));
      if (controllers != "cpu") least = lesser(least, least_quota(mounts / controllers, group, quota_v1));
    }
  }
  return least;
}

}  // namespace

std::optional<std::size_t> cpu_quota(const std::filesystem::path& root) noexcept {
  try {
    return quota_under(root);
  } catch (...) {  // out of memory, or a path that is invalid on this system
    return std::nullopt;
  }
}

}  // namespace lorekeep
