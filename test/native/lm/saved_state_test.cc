#include "lm/model/saved_state.h"

#include <cstring>
#include <limits>
#include <vector>

#include "harness.h"

namespace lorekeep::lm {
namespace {

constexpr std::uint32_t kMagic = 0xaf143cd9;
constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

/// A state that begins with a preamble and `values`.
std::vector<std::byte> state_of(const std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> all = {kMagic, 0};
  all.insert(all.end(), values.begin(), values.end());
  std::vector<std::byte> state(all.size() * sizeof(std::uint32_t));
  std::memcpy(state.data(), all.data(), state.size());
  return state;
}

TEST("a state has as many cells as tokens, all of them in one stream") {
  const StateLayout unified{1};
  CHECK(states_tokens(state_of({1, 12, 0, 1, 0}), unified, 12));
  for (const std::uint32_t cells : {0u, 1u, 11u, 13u, 0x7fffffffu, kMost}) {
    CHECK(!states_tokens(state_of({1, cells, 0, 1, 0}), unified, 12));
  }
  for (const std::uint32_t streams : {0u, 2u, 4u, kMost}) {
    CHECK(!states_tokens(state_of({streams, 12, 0, 1, 0}), unified, 12));
  }
  const StateLayout separate{4};
  CHECK(states_tokens(state_of({4, 0, 0, 12, 0, 1, 0}), separate, 12));
  CHECK(states_tokens(state_of({4, 12, 0, 1, 0}), separate, 12));
  CHECK(!states_tokens(state_of({4, 0, 0, 0, 0, 12}), separate, 12));
  CHECK(!states_tokens(state_of({4, 0, kMost, 12}), separate, 12));
}

TEST("a recurrent state is one cell at the position of the last token") {
  const StateLayout recurrent{0};
  CHECK(states_tokens(state_of({1, 11, 0, 0}), recurrent, 12));
  for (const std::uint32_t cells : {0u, 2u, 12u, kMost}) {
    CHECK(!states_tokens(state_of({cells, 11, 0}), recurrent, 12));
  }
  for (const std::uint32_t position : {0u, 10u, 12u, kMost}) {
    CHECK(!states_tokens(state_of({1, position, 0}), recurrent, 12));
  }
  CHECK(!states_tokens(state_of({1, 11, 1}), recurrent, 12));
}

TEST("a truncated state, and one of no tokens, is refused") {
  const auto whole = state_of({4, 0, 0, 12});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(!states_tokens(std::span(whole).first(size), {4}, 12));
  }
  CHECK(!states_tokens(state_of({1, 0, 0, 0}), {1}, 0));
}

}  // namespace
}  // namespace lorekeep::lm
