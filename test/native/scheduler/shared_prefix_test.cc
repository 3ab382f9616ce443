#include "scheduler/shared_prefix.h"

#include <numeric>

#include "harness.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;

std::vector<std::int32_t> tokens(std::size_t common, std::size_t own, std::int32_t salt) {
  std::vector<std::int32_t> all(common);
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i < own; ++i) all.push_back(salt + static_cast<std::int32_t>(i));
  return all;
}

TEST("a prompt waits for the longest common beginning that is not computed yet") {
  const auto first = tokens(100, 50, 1000);
  const auto second = tokens(200, 50, 2000);
  const auto mine = tokens(300, 20, 3000);
  const std::vector<RunningPrompt> running = {{1, first, 0}, {2, second, 10}};
  const auto wait = prefix_to_wait_for(mine, 0, running);
  REQUIRE(wait.has_value());
  CHECK_EQ(wait->leader, 2u);
  CHECK_EQ(wait->until_position, 200u);
}

TEST("it waits for nothing that is computed, reused or short") {
  const auto other = tokens(100, 50, 1000);
  const auto mine = tokens(100, 20, 3000);
  const std::vector<RunningPrompt> computed = {{1, other, 100}};
  CHECK(!prefix_to_wait_for(mine, 0, computed));
  const std::vector<RunningPrompt> running = {{1, other, 0}};
  CHECK(!prefix_to_wait_for(mine, 100, running));
  CHECK(!prefix_to_wait_for(mine, 100 - kShortestSharedPrefix + 1, running));
  CHECK(prefix_to_wait_for(mine, 100 - kShortestSharedPrefix, running).has_value());
  CHECK(!prefix_to_wait_for({}, 0, running));
}

TEST("of an equal prompt, all but the last token is shared") {
  const auto prompt = tokens(100, 0, 0);
  const std::vector<RunningPrompt> running = {{1, prompt, 0}};
  const auto wait = prefix_to_wait_for(prompt, 0, running);
  REQUIRE(wait.has_value());
  CHECK_EQ(wait->until_position, 99u);
}

}  // namespace
