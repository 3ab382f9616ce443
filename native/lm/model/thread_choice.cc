#include "lm/model/thread_choice.h"

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
// Growth of the lowest time with each step: a longer context costs more.
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

std::size_t ThreadChoice::kind_of(std::size_t rows) noexcept {
  return std::min<std::size_t>(std::bit_width(std::max<std::size_t>(rows, 1)) - 1, kKinds - 1);
}

std::uint32_t ThreadChoice::threads(std::size_t rows, std::uint32_t most) noexcept {
  const std::size_t top = level_of(most);
  if (top == 0) return most;
  if (level_ > top) use(top);
  if (better_ > top) better_ = kLevels;
  const auto count = [&](std::size_t level) { return level == top ? most : 1u << level; };
  if (rows >= kBatchRows) return count(level_);
  const Kind& kind = kinds_[kind_of(rows)];
  const double cost = kind.costs[level_];
  ++steps_;
  if (better_ != kLevels) {
    if (steps_ < kShortWait || cost == 0) return count(level_);
    steps_ = 0;
    return count(better_);
  }
  const bool slow = cost > kSuspicious * kind.calmest[level_];
  const bool doubtful = level_ > 0 && cost > 0 && (slow || kind.costs[level_ - 1] == 0);
  if (steps_ < (doubtful ? std::min(wait_, kShortWait) : wait_)) return count(level_);
  const bool fewer = level_ > 0 && (doubtful || level_ == top);
  steps_ = 0;
  wait_ = std::min(2 * wait_, fewer ? kLongestWaitForFewer : kLongestWaitForMore);
  return count(fewer ? level_ - 1 : level_ + 1);
}

void ThreadChoice::use(std::size_t level) noexcept {
  level_ = level;
  better_ = kLevels;
  wait_ = kFirstWait;
}

double ThreadChoice::patience_ms(std::size_t rows, std::uint32_t threads) const noexcept {
  for (std::size_t fewer = level_of(threads); fewer-- > 0;) {
    for (std::size_t kind = kind_of(rows) + 1; kind-- > 0;) {
      const double cost = kinds_[kind].costs[fewer];
      if (cost == 0) continue;
      // More rows take no longer than each alone.
      const double times = kind == kind_of(rows) && rows < kBatchRows ? 1 : static_cast<double>(rows >> kind);
      return kPatience * cost * times + kPatienceMs;
    }
  }
  return 0;
}

void ThreadChoice::learn(std::size_t rows, std::uint32_t threads, double took_ms, bool complete) noexcept {
  if (!(took_ms > 0) || rows == 0) return;
  const std::size_t level = level_of(threads);
  // The level below computes a step that was given up, and was faster even by the patience.
  if (!complete && level > 0 && level <= level_) use(level - 1);
  if (!complete) better_ = kLevels;
  if (rows >= kBatchRows) return;
  Kind& kind = kinds_[kind_of(rows)];
  double& known = kind.costs[level];
  if (!complete) {
    known = std::max(known, took_ms);
    return;
  }
  const bool tried = level != level_;
  // One try is all that is known of another number.
  known = known == 0 || tried ? took_ms : known + kNewest * (took_ms - known);
  double& calmest = kind.calmest[level];
  calmest = calmest == 0 ? took_ms : std::min(calmest * kForgotten, took_ms);
  if (tried && level_ != kLevels) judge(kind, level);
}

// Compares a try with the steps of as many rows just before it: older times were taken in another context, or next to
// other programs. The context may have changed with the try itself, so that a second one must agree.
void ThreadChoice::judge(Kind& kind, std::size_t level) noexcept {
  const double usual = kind.costs[level_];
  const bool faster = kind.costs[level] < kFaster * usual;
  if (faster && better_ == level) return use(level);
  better_ = faster ? level : kLevels;
  if (faster) {
    for (Kind& each : kinds_) each.costs[level_] = 0;
  } else if (level < level_) {
    kind.calmest[level_] = usual;  // a deeper context costs more; the threads do not hold each other up
  }
}

}  // namespace lorekeep::lm
