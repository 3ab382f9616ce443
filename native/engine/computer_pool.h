// The computers of one model, created on demand and cached. Several computers of one thread use several cores better
// than one computer with several threads: small matrices spend their time at llama.cpp's spinning barriers, which
// collapse if another process needs the cores (a 16-token text: 6 ms on one thread; on two, 4.7 ms on an idle machine
// and 350 ms on a loaded one). Internal to native/engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/batch_computer.h"

namespace lorekeep::engine {

/// Creates a computer for batches of at most `capacity` tokens. Throws Error.
using MakeComputer = std::function<std::unique_ptr<BatchComputer>(std::uint32_t capacity)>;

struct ComputerSizes {
  /// Capacity of an ordinary computer in tokens. Longer texts get larger ones, which trim() frees.
  std::uint32_t ordinary;
  /// Longest text in tokens.
  std::uint32_t limit;
};

class ComputerPool {
 public:
  ComputerPool(MakeComputer make, ComputerSizes sizes) : make_(std::move(make)), sizes_(sizes) {}

  /// Returns an idle computer for at least `tokens` tokens, or a new one.
  std::unique_ptr<BatchComputer> take(std::uint32_t tokens);
  /// Keeps the computer for the next take(). Destroy a computer that failed instead.
  void give_back(std::unique_ptr<BatchComputer> computer);
  /// Frees idle computers larger than ordinary ones.
  void trim();

 private:
  const MakeComputer make_;
  const ComputerSizes sizes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchComputer>> idle_;
};

}  // namespace lorekeep::engine
