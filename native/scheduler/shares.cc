#include "scheduler/shares.h"

#include <algorithm>

namespace lorekeep::scheduler {

namespace {

/// The less advanced group; among equals the better class, then the older model.
bool before(const std::pair<const Group, double>& a, const std::pair<const Group, double>& b) {
  if (a.second != b.second) return a.second < b.second;
  if (a.first.second != b.first.second) return a.first.second < b.first.second;
  return a.first.first < b.first.first;
}

}  // namespace

Group Shares::next(const std::vector<Group>& active) {
  std::erase_if(used_, [&](const auto& entry) {
    return entry.second <= now_ && std::find(active.begin(), active.end(), entry.first) == active.end();
  });
  auto chosen = used_.end();
  for (const Group& group : active) {
    const auto entry = used_.try_emplace(group, now_).first;
    entry->second = std::max(entry->second, now_);
    if (chosen == used_.end() || before(*entry, *chosen)) chosen = entry;
  }
  now_ = chosen->second;
  return chosen->first;
}

void Shares::charge(Group group, double ms) {
  const auto known = used_.find(group);
  if (known != used_.end()) known->second += ms / kWeights[index_of(group.second)];
}

void Shares::remove(ModelId model) {
  std::erase_if(used_, [&](const auto& entry) { return entry.first.first == model; });
}

}  // namespace lorekeep::scheduler
