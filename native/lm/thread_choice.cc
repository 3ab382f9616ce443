#include "lm/thread_choice.h"

#include <algorithm>
#include <bit>

namespace lorekeep::lm {
namespace {

// Weight of the newest measurement.
constexpr double kNewest = 0.3;
// Fewer threads must be this much faster, so that noise decides nothing.
constexpr double kFaster = 0.9;
// A step that takes this multiple of the lowest time that it took makes fewer threads worth a try.
constexpr double kSuspicious = 1.5;
// What the lowest time grows by with each step: a longer context costs more.
constexpr double kForgotten = 1.002;
// A step with more threads is given up after this multiple of the time that fewer threads take, and some ms.
constexpr double kPatience = 2;
constexpr double kPatienceMs = 20;
// Steps until other numbers of threads are tried again, doubled by each try that was worse.
constexpr std::uint32_t kFirstWait = 16;
constexpr std::uint32_t kLongestWaitForMore = 64;
constexpr std::uint32_t kLongestWaitForFewer = 512;
// Steps until the next lower number is tried, if its time is unknown, or if steps became slow.
constexpr std::uint32_t kShortWait = 3;

}  // namespace

std::size_t ThreadChoice::level_of(std::uint32_t threads) noexcept {
  return std::min<std::size_t>(std::bit_width(std::max(threads, 1u) - 1), kLevels - 1);
}

double ThreadChoice::unit(std::size_t rows) noexcept {
  return rows < kBatchRows ? 1 : static_cast<double>(rows);
}

std::uint32_t ThreadChoice::threads(std::size_t rows, std::uint32_t most) noexcept {
  const std::size_t top = level_of(most);
  if (top == 0) return most;
  Kind& at = kind(rows);
  at.level = std::min(at.level, top);
  if (at.wait == 0) at.wait = kFirstWait;
  const auto count = [&](std::size_t level) { return level == top ? most : 1u << level; };
  // What is known decides.
  while (at.level > 0 && at.costs[at.level - 1] > 0 && at.costs[at.level] > 0 &&
         at.costs[at.level - 1] < kFaster * at.costs[at.level])
    --at.level;
  const double cost = at.costs[at.level];
  const bool slow = cost > kSuspicious * at.calmest[at.level];
  const bool doubtful = at.level > 0 && cost > 0 && (slow || at.costs[at.level - 1] == 0);
  if (++at.steps < (doubtful ? std::min(at.wait, kShortWait) : at.wait)) return count(at.level);
  const bool fewer = at.level > 0 && (doubtful || at.level == top);
  at.steps = 0;
  at.wait = std::min(2 * at.wait, fewer ? kLongestWaitForFewer : kLongestWaitForMore);
  return count(fewer ? at.level - 1 : at.level + 1);
}

double ThreadChoice::patience_ms(std::size_t rows, std::uint32_t threads) const noexcept {
  const std::size_t level = level_of(threads);
  const Kind& at = kind(rows);
  for (std::size_t fewer = level; fewer-- > 0;) {
    if (at.costs[fewer] > 0) return kPatience * at.costs[fewer] * unit(rows) + kPatienceMs;
  }
  // Rows of a batch take no longer than each alone.
  for (std::size_t fewer = level; fewer-- > 0;) {
    if (kinds_[0].costs[fewer] > 0) return kPatience * kinds_[0].costs[fewer] * static_cast<double>(rows) + kPatienceMs;
  }
  return 0;
}

void ThreadChoice::learn(std::size_t rows, std::uint32_t threads, double took_ms, bool complete) noexcept {
  if (!(took_ms > 0) || rows == 0) return;
  Kind& at = kind(rows);
  const std::size_t level = level_of(threads);
  const double cost = took_ms / unit(rows);
  double& known = at.costs[level];
  if (!complete) {
    known = std::max(known, cost);
    // The level below computes the step now, and was faster even by the patience.
    if (level > 0) at.level = std::min(at.level, level - 1);
    return;
  }
  // One try is all that is known of another number.
  known = known == 0 || level != at.level ? cost : known + kNewest * (cost - known);
  double& calmest = at.calmest[level];
  calmest = calmest == 0 ? cost : std::min(calmest * kForgotten, cost);
  if (at.level < level && known < kFaster * at.costs[at.level]) {
    at.level = level;
    at.wait = kFirstWait;
  }
}

}  // namespace lorekeep::lm
