#include "engine/settings_memory.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace lorekeep::engine {
namespace {

// Valid batch sizes, up to the capacity of an ordinary computer. Checked, because settings may come from a file.
constexpr std::uint32_t kMinBatch = 16;
constexpr std::uint32_t kMaxBatch = 512;

struct Memory {
  std::mutex mutex;
  std::vector<KnownSettings> measured;
};

Memory& memory() {
  static auto* found = new Memory;  // leaked: statics of other files may own models
  return *found;
}

const KnownSettings* find(std::string_view fingerprint, std::span<const KnownSettings> among) {
  for (const KnownSettings& entry : among) {
    if (entry.fingerprint == fingerprint) return &entry;
  }
  return nullptr;
}

}  // namespace

std::optional<ComputeSettings> find_settings(std::string_view fingerprint, std::span<const std::string> candidates,
                                             std::span<const KnownSettings> known) {
  {
    std::lock_guard lock(memory().mutex);
    if (const KnownSettings* entry = find(fingerprint, memory().measured)) return entry->settings;
  }
  const auto entry = std::find_if(known.begin(), known.end(), [&](const KnownSettings& one) {
    return one.fingerprint == fingerprint && std::ranges::equal(one.candidates, candidates);
  });
  if (entry == known.end()) return std::nullopt;
  const std::uint32_t tokens = entry->settings.batch_tokens;
  if (tokens < kMinBatch || tokens > kMaxBatch) return std::nullopt;
  return entry->settings;
}

bool settings_measured(std::string_view fingerprint) {
  std::lock_guard lock(memory().mutex);
  return find(fingerprint, memory().measured) != nullptr;
}

void remember_settings(KnownSettings settings) {
  std::lock_guard lock(memory().mutex);
  if (find(settings.fingerprint, memory().measured) == nullptr) memory().measured.push_back(std::move(settings));
}

}  // namespace lorekeep::engine
