#include "scheduler/shares.h"

#include "harness.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;
using enum ConsumerClass;

const std::vector<Group> kAll = {{1, kInteractiveVisible}, {1, kInteractiveBuffered}, {1, kBackground}};

TEST("busy classes share time 8 : 4 : 1, whatever their steps take") {
  Shares shares;
  PerClass<double> used{};
  const PerClass<double> step_ms = {3, 40, 11};
  for (int i = 0; i < 100'000; ++i) {
    const Group turn = shares.next(kAll);
    used[index_of(turn.second)] += step_ms[index_of(turn.second)];
    shares.charge(turn, step_ms[index_of(turn.second)]);
  }
  const double total = used[0] + used[1] + used[2];
  CHECK_NEAR(used[0] / total, 8.0 / 13, 0.01);
  CHECK_NEAR(used[1] / total, 4.0 / 13, 0.01);
  CHECK_NEAR(used[2] / total, 1.0 / 13, 0.01);
}

TEST("models share time alike") {
  Shares shares;
  const std::vector<Group> active = {{1, kBackground}, {2, kBackground}};
  double first = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Group turn = shares.next(active);
    const double ms = turn.first == 1 ? 1 : 9;
    if (turn.first == 1) first += ms;
    shares.charge(turn, ms);
  }
  CHECK_NEAR(first, 9'000, 100);
}

TEST("an arrival of a better class is next, and an idle class saves nothing up") {
  Shares shares;
  const std::vector<Group> background = {{1, kBackground}};
  for (int i = 0; i < 1000; ++i) shares.charge(shares.next(background), 100);
  CHECK(shares.next(kAll) == (Group{1, kInteractiveVisible}));
  shares.charge({1, kInteractiveVisible}, 1000);
  CHECK(shares.next(kAll).second == kInteractiveBuffered);
  // Back from idling, background runs once before the others return, not a thousand times.
  int row = 0;
  for (; shares.next(kAll).second == kBackground; ++row) shares.charge({1, kBackground}, 100);
  CHECK(row <= 2);
}

TEST("a class that leaves for a moment keeps its debt") {
  Shares shares;
  shares.next(kAll);
  shares.charge({1, kBackground}, 1000);
  const std::vector<Group> visible = {{1, kInteractiveVisible}};
  shares.charge(shares.next(visible), 8);
  shares.charge(shares.next({{1, kInteractiveVisible}, {1, kBackground}}), 8);
  CHECK(shares.next({{1, kInteractiveVisible}, {1, kBackground}}).second == kInteractiveVisible);
}

}  // namespace
