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

std::uint32_t ThreadChoice::threads(std::size_t rows, std::uint32_t most) noexcept {
  const std::size_t top = level_of(most);
  if (top == 0) return most;
  level_ = std::min(level_, top);
  if (wait_ == 0) wait_ = kFirstWait;
  const auto count = [&](std::size_t level) { return level == top ? most : 1u << level; };
  if (rows >= kBatchRows) return count(level_);
  // What is known decides.
  while (level_ > 0 && costs_[level_ - 1] > 0 && costs_[level_] > 0 && costs_[level_ - 1] < kFaster * costs_[level_])
    --level_;
  const double cost = costs_[level_];
  const bool slow = cost > kSuspicious * calmest_[level_];
  const bool doubtful = level_ > 0 && cost > 0 && (slow || costs_[level_ - 1] == 0);
  if (++steps_ < (doubtful ? std::min(wait_, kShortWait) : wait_)) return count(level_);
  const bool fewer = level_ > 0 && (doubtful || level_ == top);
  steps_ = 0;
  wait_ = std::min(2 * wait_, fewer ? kLongestWaitForFewer : kLongestWaitForMore);
  return count(fewer ? level_ - 1 : level_ + 1);
}

double ThreadChoice::patience_ms(std::size_t rows, std::uint32_t threads) const noexcept {
  // Rows of a batch take no longer than each alone.
  const double alone = rows < kBatchRows ? 1 : static_cast<double>(rows);
  for (std::size_t fewer = level_of(threads); fewer-- > 0;) {
    if (costs_[fewer] > 0) return kPatience * costs_[fewer] * alone + kPatienceMs;
  }
  return 0;
}

void ThreadChoice::learn(std::size_t rows, std::uint32_t threads, double took_ms, bool complete) noexcept {
  if (!(took_ms > 0) || rows == 0) return;
  const std::size_t level = level_of(threads);
  // The level below computes a step that was given up, and was faster even by the patience.
  if (!complete && level > 0) level_ = std::min(level_, level - 1);
  if (rows >= kBatchRows) return;
  double& known = costs_[level];
  if (!complete) {
    known = std::max(known, took_ms);
    return;
  }
  // One try is all that is known of another number.
  known = known == 0 || level != level_ ? took_ms : known + kNewest * (took_ms - known);
  double& calmest = calmest_[level];
  calmest = calmest == 0 ? took_ms : std::min(calmest * kForgotten, took_ms);
  if (level_ < level && known < kFaster * costs_[level_]) {
    level_ = level;
    wait_ = kFirstWait;
  }
}

}  // namespace lorekeep::lm
