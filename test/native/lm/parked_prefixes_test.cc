#include "lm/parked_prefixes.h"

#include <vector>

#include "harness.h"

using lorekeep::lm::ParkedPrefixes;
using lorekeep::lm::Token;

namespace {

using Tokens = std::vector<Token>;

std::vector<std::byte> state(std::size_t bytes) {
  return std::vector<std::byte>(bytes);
}

}  // namespace

TEST("a parked state is found by the longest common prefix, and stays") {
  ParkedPrefixes parked(1000, true);
  parked.add(1, Tokens{1, 2, 3, 4}, state(40));
  parked.add(2, Tokens{1, 9}, state(20));
  const auto match = parked.find(Tokens{1, 2, 3, 7, 8});
  CHECK_EQ(match.entry, 1u);
  CHECK_EQ(match.tokens, 3u);
  CHECK_EQ(parked.use(1).bytes.size(), 40u);
  CHECK_EQ(parked.use(1).tokens, 4u);
  CHECK_EQ(parked.size(), 2u);
  CHECK_EQ(parked.find(Tokens{7}).tokens, 0u);
}

TEST("without partial use, only a state that is a whole prefix is found") {
  ParkedPrefixes parked(1000, false);
  parked.add(1, Tokens{1, 2, 3, 4}, state(40));
  CHECK_EQ(parked.find(Tokens{1, 2, 3, 7, 8}).tokens, 0u);
  CHECK_EQ(parked.find(Tokens{1, 2, 3, 4, 8}).tokens, 4u);
  parked.add(2, Tokens{1, 2}, state(40));
  CHECK_EQ(parked.size(), 2u);
}

TEST("a state replaces those of its prefixes, and is not wanted again") {
  ParkedPrefixes parked(1000, true);
  parked.add(1, Tokens{1}, state(10));
  parked.add(2, Tokens{1, 2}, state(20));
  CHECK(parked.wants(Tokens{1, 2, 3}));
  parked.add(3, Tokens{1, 2, 3}, state(30));
  CHECK_EQ(parked.size(), 1u);
  CHECK_EQ(parked.bytes(), 30 + 3 * sizeof(Token));
  CHECK(!parked.wants(Tokens{1, 2}));
  CHECK(parked.wants(Tokens{2}));
}

TEST("the limit is kept: what was used longest ago goes first") {
  ParkedPrefixes parked(200, true);
  parked.add(1, Tokens{1}, state(80));
  parked.add(2, Tokens{2}, state(80));
  parked.use(1);
  parked.add(3, Tokens{3}, state(80));
  CHECK_EQ(parked.find(Tokens{2}).tokens, 0u);
  CHECK_EQ(parked.find(Tokens{1}).tokens, 1u);
  CHECK(!parked.wants(Tokens{1}));
  parked.add(4, Tokens{4}, state(80));
  CHECK_EQ(parked.find(Tokens{3}).tokens, 0u);
  CHECK(parked.bytes() <= 200);
  parked.add(5, Tokens{5}, state(400));
  CHECK_EQ(parked.find(Tokens{5}).tokens, 0u);
  CHECK_EQ(parked.size(), 2u);
  parked.clear();
  CHECK_EQ(parked.bytes(), 0u);
}

TEST("nothing is parked with a limit of 0") {
  ParkedPrefixes parked(0, true);
  CHECK(!parked.wants(Tokens{1}));
  parked.add(1, Tokens{1}, state(1));
  CHECK_EQ(parked.size(), 0u);
}
