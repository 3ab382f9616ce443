// Decides how many threads compute the steps of llama.cpp. Its threads wait for each other many hundred times per step
// and spin meanwhile, so that next to other programs, or other threads of this one, many can be slower than one: a
// thread that lost its core holds up all. Learns from the steps that ran. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lorekeep::lm {

class ThreadChoice {
 public:
  /// Returns how many of `most` threads should compute a step of `rows` rows: `most`, a half, a quarter, ..., 1.
  /// Batches follow what replies have learned: their own times say more of the depth of the context than of the
  /// threads.
  std::uint32_t threads(std::size_t rows, std::uint32_t most) noexcept;
  /// Returns whether this number is tried, to learn whether it is faster.
  bool tries(std::uint32_t threads) const noexcept { return level_ != kLevels && level_of(threads) != level_; }
  /// Returns after how many ms such a step should be given up and computed with fewer threads; 0: never.
  double patience_ms(std::size_t rows, std::uint32_t threads) const noexcept;
  /// Records a step. `complete`: false if it was given up after that time.
  void learn(std::size_t rows, std::uint32_t threads, double took_ms, bool complete) noexcept;

 private:
  static constexpr std::size_t kLevels = 6;  // of threads: 1, 2, 3 to 4, 5 to 8, ...
  static std::size_t level_of(std::uint32_t threads) noexcept;

  // Steps of 1 row, of 2 or 3, and of 4 to 7: within a kind, steps take about the same time.
  static constexpr std::size_t kKinds = 3;
  static constexpr std::size_t kBatchRows = std::size_t{1} << kKinds;
  struct Kind {
    std::array<double, kLevels> costs{};    // ms; 0: unknown
    std::array<double, kLevels> calmest{};  // lowest cost, slowly forgotten
  };
  static std::size_t kind_of(std::size_t rows) noexcept;

  void use(std::size_t level) noexcept;
  void judge(Kind& kind, std::size_t level) noexcept;

  std::array<Kind, kKinds> kinds_{};
  std::uint32_t steps_ = 0;       // since another level was tried
  std::uint32_t wait_ = 0;        // steps until then
  std::size_t level_ = kLevels;   // kLevels: all threads
  std::size_t better_ = kLevels;  // the level that was faster when it was tried; kLevels: none
};

}  // namespace lorekeep::lm
