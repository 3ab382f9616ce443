#include "lm/grammar/span_tree.h"

#include <algorithm>
#include <array>

namespace lorekeep::lm {
namespace {

constexpr char kSeparator = '\xFF';

}  // namespace

void SpanTree::add(std::string_view character, bool begins, bool ends) {
  if (begins) places_.push_back(static_cast<std::uint32_t>(text_.size()));
  text_ += character;
  ends_.push_back(ends);
  ends_.resize(text_.size(), false);
}

void SpanTree::end_part() {
  text_ += kSeparator;
  ends_.push_back(true);
}

SpanTree::State SpanTree::start() {
  const auto size = static_cast<std::uint32_t>(places_.size());
  if (nodes_.empty()) nodes_.push_back({.first = 0, .past = size, .byte = 0, .ends = false});
  return {0, size, 0, 0};
}

bool SpanTree::may_end(const State& state) const noexcept {
  if (state.length == 0 || state.first == state.past) return false;
  return state.past - state.first == 1 ? ends_at(places_[state.first], state.length) : nodes_[state.node].ends;
}

bool SpanTree::step(const State& from, char byte, State& to, Allowance& work) {
  to = {0, 0, from.length + 1, 0};
  if (from.first == from.past || byte == kSeparator) return false;
  if (from.past - from.first == 1) {
    if (text_[places_[from.first] + from.length] != byte) return false;
    to = {from.first, from.past, from.length + 1, 0};
    return true;
  }
  if (!nodes_[from.node].divided) divide(from.node, from.length, work);
  const Node& node = nodes_[from.node];
  const auto begin = nodes_.begin() + node.children;
  const auto found = std::lower_bound(begin, begin + node.count, byte, [](const Node& child, char wanted) {
    return static_cast<unsigned char>(child.byte) < static_cast<unsigned char>(wanted);
  });
  if (found == begin + node.count || found->byte != byte) return false;
  to = {found->first, found->past, from.length + 1, static_cast<std::uint32_t>(found - nodes_.begin())};
  return true;
}

/// Sorts the places of a node by the byte behind its span, and adds a child per byte.
void SpanTree::divide(std::uint32_t node, std::uint32_t length, Allowance& work) {
  const std::uint32_t first = nodes_[node].first;
  const std::uint32_t past = nodes_[node].past;
  const auto next = [&](std::uint32_t place) { return static_cast<unsigned char>(text_[place + length]); };
  std::array<std::uint32_t, 257> begins{};
  for (std::uint32_t i = first; i < past; ++i) ++begins[next(places_[i]) + std::size_t{1}];
  for (std::size_t byte = 0; byte < 256; ++byte) begins[byte + 1] += begins[byte];
  sorted_.resize(past - first);
  std::array<std::uint32_t, 257> at = begins;
  for (std::uint32_t i = first; i < past; ++i) sorted_[at[next(places_[i])]++] = places_[i];
  std::copy(sorted_.begin(), sorted_.end(), places_.begin() + first);
  const auto children = static_cast<std::uint32_t>(nodes_.size());
  for (std::size_t byte = 0; byte < 255; ++byte) {  // all but the separator
    const std::uint32_t from = first + begins[byte];
    const std::uint32_t to = first + begins[byte + 1];
    if (from == to) continue;
    const bool ends = std::any_of(places_.begin() + from, places_.begin() + to,
                                  [&](std::uint32_t place) { return ends_at(place, length + 1); });
    nodes_.push_back({.first = from, .past = to, .byte = static_cast<char>(byte), .ends = ends});
  }
  nodes_[node].children = children;
  nodes_[node].count = static_cast<std::uint16_t>(nodes_.size() - children);
  nodes_[node].divided = true;
  work.spend(64 + (past - first));
}

}  // namespace lorekeep::lm
