#include "engine/settings_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace lorekeep::engine {
namespace {

constexpr std::uint32_t kMaxBatch = 512;  // the capacity of an ordinary computer

struct Remembered {
  ComputeSettings settings;
  bool sure;
};

struct Memory {
  std::mutex mutex;
  std::map<std::string, Remembered> measured;

  const Remembered* find(const std::string& key) const {
    const auto found = measured.find(key);
    return found == measured.end() ? nullptr : &found->second;
  }
};

/// A file may be loaded both as an embedding model and as a language model, which differ in their candidates.
std::string key_of(std::string_view fingerprint, std::span<const std::string> candidates) {
  std::string key(fingerprint);
  for (const std::string& name : candidates) key += "/" + name;
  return key;
}

Memory& memory() {
  static auto* found = new Memory;  // leaked: statics of other files may own models
  return *found;
}

}  // namespace

std::optional<ComputeSettings> find_settings(std::string_view fingerprint, std::span<const std::string> candidates,
                                             std::span<const KnownSettings> known, std::uint32_t min_batch) {
  {
    std::lock_guard lock(memory().mutex);
    if (const Remembered* found = memory().find(key_of(fingerprint, candidates))) return found->settings;
  }
  const auto entry = std::find_if(known.begin(), known.end(), [&](const KnownSettings& one) {
    return one.fingerprint == fingerprint && std::ranges::equal(one.candidates, candidates);
  });
  if (entry == known.end()) return std::nullopt;
  const std::uint32_t tokens = entry->settings.batch_tokens;
  if (tokens < min_batch || tokens > kMaxBatch) return std::nullopt;
  return entry->settings;
}

bool settings_measured(std::string_view fingerprint, std::span<const std::string> candidates) {
  std::lock_guard lock(memory().mutex);
  const Remembered* found = memory().find(key_of(fingerprint, candidates));
  return found != nullptr && found->sure;
}

void remember_settings(KnownSettings settings, bool sure) {
  std::lock_guard lock(memory().mutex);
  memory().measured.try_emplace(key_of(settings.fingerprint, settings.candidates),
                                Remembered{std::move(settings.settings), sure});
}

}  // namespace lorekeep::engine
