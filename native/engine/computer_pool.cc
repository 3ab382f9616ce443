#include "engine/computer_pool.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lorekeep::engine {

std::unique_ptr<BatchComputer> ComputerPool::take(std::uint32_t tokens) {
  {
    std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if ((*it)->capacity() < tokens) continue;
      if (best == idle_.end() || (*it)->capacity() < (*best)->capacity()) best = it;
    }
    if (best != idle_.end()) {
      std::unique_ptr<BatchComputer> computer = std::move(*best);
      idle_.erase(best);
      return computer;
    }
  }
  // Powers of two, so that texts of growing length do not each need a new computer.
  const std::uint32_t capacity =
      tokens <= sizes_.ordinary ? sizes_.ordinary : std::min(std::bit_ceil(tokens), sizes_.limit);
  return make_(capacity);
}

void ComputerPool::give_back(std::unique_ptr<BatchComputer> computer) {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(computer));
}

void ComputerPool::trim() {
  std::vector<std::unique_ptr<BatchComputer>> dropped;  // destroyed outside the lock
  std::lock_guard lock(mutex_);
  const auto keep = [this](const auto& computer) { return computer->capacity() <= sizes_.ordinary; };
  const auto large = std::partition(idle_.begin(), idle_.end(), keep);
  dropped.assign(std::make_move_iterator(large), std::make_move_iterator(idle_.end()));
  idle_.erase(large, idle_.end());
}

}  // namespace lorekeep::engine
