// The computers of one model, made on demand and kept. Several side by side use several cores better than one with
// several threads: small matrices spend their time at llama.cpp's spinning barriers, and beside a busy neighbour those
// collapse (a 16-token text: 6 ms on one thread; on two, 4.7 ms alone and 350 ms on a loaded machine).
// Internal to native/engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/batch_computer.h"

namespace lorekeep::engine {

/// Makes a computer for batches of at most `capacity` tokens. Throws Error.
using MakeComputer = std::function<std::unique_ptr<BatchComputer>(std::uint32_t capacity)>;

struct ComputerSizes {
  /// Tokens of an ordinary computer; longer texts get larger ones for as long as they are needed.
  std::uint32_t ordinary;
  /// Longest text.
  std::uint32_t limit;
};

class ComputerPool {
 public:
  ComputerPool(MakeComputer make, ComputerSizes sizes) : make_(std::move(make)), sizes_(sizes) {}

  /// An idle computer for at least `tokens` tokens, or a new one.
  std::unique_ptr<BatchComputer> take(std::uint32_t tokens);
  /// Keeps the computer for the next take(). One that failed is not given back but destroyed.
  void give_back(std::unique_ptr<BatchComputer> computer);
  /// Frees idle computers that are larger than ordinary ones.
  void trim();

 private:
  const MakeComputer make_;
  const ComputerSizes sizes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchComputer>> idle_;
};

}  // namespace lorekeep::engine
