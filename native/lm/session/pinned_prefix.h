// A computed prompt that stays in the KV cache while somebody holds this.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "lm/text/token.h"

namespace lorekeep::lm {

class PinnedPrefix {
 public:
  explicit PinnedPrefix(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const std::vector<Token>& tokens() const noexcept { return tokens_; }
  /// Allows the cache to evict it. Any thread.
  void release() noexcept { released_.store(true, std::memory_order_relaxed); }
  bool released() const noexcept { return released_.load(std::memory_order_relaxed); }

  /// Id of its entry in the cache, set by the inference thread; 0: none yet.
  std::uint64_t entry = 0;

 private:
  const std::vector<Token> tokens_;
  std::atomic<bool> released_{false};
};

}  // namespace lorekeep::lm
