#include "lm/model/saved_state.h"

#include <cstring>

namespace lorekeep::lm {
namespace {

constexpr std::size_t kPreamble = 2 * sizeof(std::uint32_t);  // magic, sequence id

/// Reads u32 values of this machine's byte order, one after the other; 0 after the end.
class Values {
 public:
  explicit Values(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  std::uint32_t next() noexcept {
    std::uint32_t value = 0;
    if (bytes_.size() < sizeof(value)) {
      bytes_ = {};
      return 0;
    }
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_ = bytes_.subspan(sizeof(value));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

// KV cache: streams, then for each stream its number of cells and, unless it is 0, its cells. A recurrent memory:
// number of cells, then for each its last position and its number of sequences, which is not written for a single one.
bool states_tokens(std::span<const std::byte> state, const StateLayout& layout, std::uint32_t tokens) noexcept {
  if (state.size() < kPreamble || tokens == 0) return false;
  Values values(state.subspan(kPreamble));
  if (layout.streams == 0) return values.next() == 1 && values.next() == tokens - 1 && values.next() == 0;
  if (values.next() != layout.streams) return false;
  std::uint32_t cells = 0;
  for (std::uint32_t stream = 0; stream < layout.streams && cells == 0; ++stream) cells = values.next();
  return cells == tokens;
}

}  // namespace lorekeep::lm
