#include "lm/session/cell_ledger.h"

#include <map>
#include <random>
#include <set>
#include <vector>

#include "harness.h"

using lorekeep::lm::CellLedger;

namespace {

// The slow twin: a set of owners per cell.
class NaiveCells {
 public:
  void extend(int sequence, std::uint32_t cells) {
    for (std::uint32_t i = 0; i < cells; ++i) lists_[sequence].push_back(next_++);
  }
  void share(int from, int to, std::uint32_t cells) {
    lists_[to].assign(lists_[from].begin(), lists_[from].begin() + cells);
  }
  void truncate(int sequence, std::uint32_t length) {
    if (length < lists_[sequence].size()) lists_[sequence].resize(length);
  }
  void release(int sequence) { lists_.erase(sequence); }
  std::uint32_t length(int sequence) { return static_cast<std::uint32_t>(lists_[sequence].size()); }
  std::uint32_t used() const {
    std::set<int> cells;
    for (const auto& [sequence, list] : lists_) cells.insert(list.begin(), list.end());
    return static_cast<std::uint32_t>(cells.size());
  }

 private:
  std::map<int, std::vector<int>> lists_;
  int next_ = 0;
};

}  // namespace

TEST("shared cells count once, and stay until their last owner is gone") {
  CellLedger ledger(100);
  ledger.extend(0, 50);
  ledger.share(0, 1, 30);
  ledger.extend(1, 5);
  CHECK_EQ(ledger.used(), 55u);
  ledger.release(0);
  CHECK_EQ(ledger.used(), 35u);
  ledger.release(1);
  CHECK_EQ(ledger.used(), 0u);
}

TEST("a reservation counts until the sequence has grown to it") {
  CellLedger ledger(100);
  ledger.extend(0, 10);
  ledger.reserve(0, 40);
  CHECK_EQ(ledger.reserved(), 30u);
  CHECK_EQ(ledger.available(), 60u);
  ledger.extend(0, 30);
  CHECK_EQ(ledger.reserved(), 0u);
  CHECK_EQ(ledger.available(), 60u);
  ledger.reserve(0, 0);
  CHECK_EQ(ledger.available(), 60u);
  ledger.truncate(0, 10);
  CHECK_EQ(ledger.available(), 90u);
}

TEST("a thousand sequences with one prefix cost the prefix once") {
  CellLedger ledger(100'000);
  ledger.extend(0, 500);
  for (int sequence = 1; sequence <= 1000; ++sequence) {
    ledger.share(0, sequence, 500);
    ledger.extend(sequence, 20);
  }
  CHECK_EQ(ledger.used(), 500u + 1000 * 20);
}

TEST("random operations agree with sets of owners") {
  std::mt19937_64 random(lorekeep::test::seed());
  for (int round = 0; round < 40; ++round) {
    CellLedger ledger(100'000);
    NaiveCells naive;
    for (int step = 0; step < 150; ++step) {
      const int sequence = static_cast<int>(random() % 6);
      const auto amount = static_cast<std::uint32_t>(random() % 20);
      switch (random() % 4) {
        case 0:
          ledger.extend(sequence, amount);
          naive.extend(sequence, amount);
          break;
        case 1: {
          const int to = static_cast<int>(random() % 6);
          const std::uint32_t length = naive.length(sequence);
          if (to == sequence || length == 0) break;
          const std::uint32_t cells = 1 + static_cast<std::uint32_t>(random() % length);
          ledger.release(to);
          naive.release(to);
          ledger.share(sequence, to, cells);
          naive.share(sequence, to, cells);
          break;
        }
        case 2:
          ledger.truncate(sequence, amount);
          naive.truncate(sequence, amount);
          break;
        default:
          if (random() % 3 == 0) {
            ledger.release(sequence);
            naive.release(sequence);
          }
      }
      CHECK_EQ(ledger.used(), naive.used());
      for (int id = 0; id < 6; ++id) CHECK_EQ(ledger.length(id), naive.length(id));
    }
  }
}
