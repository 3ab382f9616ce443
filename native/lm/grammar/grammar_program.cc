#include "lm/grammar/grammar_program.h"

#include <algorithm>
#include <map>

#include "core/values/utf8.h"

namespace lorekeep::lm {

using Edge = CharacterNodes::Edge;

const Edge* CharacterNodes::find(std::uint32_t node, std::uint8_t byte) const noexcept {
  const std::span<const Edge> from = edges(node);
  const auto at =
      std::lower_bound(from.begin(), from.end(), byte, [](const Edge& edge, std::uint8_t b) { return edge.high < b; });
  return at == from.end() || at->low > byte ? nullptr : &*at;
}

std::size_t GrammarProgram::bytes() const noexcept {
  return sizeof(*this) + states.size() * sizeof(GrammarState) + nodes.all.size() * sizeof(Edge) +
         (nodes.begins.size() + rules.size()) * sizeof(std::uint32_t);
}

void append_byte_runs(char32_t first, char32_t last, std::vector<ByteRun>& runs) {
  if (first <= 0xDFFF && last >= 0xD800) {
    if (first < 0xD800) append_byte_runs(first, 0xD7FF, runs);
    if (last > 0xDFFF) append_byte_runs(0xE000, last, runs);
    return;
  }
  // Split at the borders between lengths, then until each run is a product of byte ranges.
  for (const char32_t border : {char32_t{0x7F}, char32_t{0x7FF}, char32_t{0xFFFF}}) {
    if (first <= border && last > border) {
      append_byte_runs(first, border, runs);
      append_byte_runs(border + 1, last, runs);
      return;
    }
  }
  for (int bits = 6; bits <= 18; bits += 6) {
    const char32_t mask = (char32_t{1} << bits) - 1;
    if ((first & ~mask) == (last & ~mask)) continue;
    if ((first & mask) != 0) {
      append_byte_runs(first, first | mask, runs);
      append_byte_runs((first | mask) + 1, last, runs);
      return;
    }
    if ((last & mask) != mask) {
      append_byte_runs(first, (last & ~mask) - 1, runs);
      append_byte_runs(last & ~mask, last, runs);
      return;
    }
  }
  char low[kMaxUtf8Bytes], high[kMaxUtf8Bytes];
  ByteRun run{static_cast<std::uint8_t>(encode_utf8(first, low)), {}, {}};
  encode_utf8(last, high);
  for (std::size_t i = 0; i < run.length; ++i) {
    run.low[i] = static_cast<std::uint8_t>(low[i]);
    run.high[i] = static_cast<std::uint8_t>(high[i]);
  }
  runs.push_back(run);
}

struct CharacterNodeBuilder::Known {
  std::map<std::vector<Edge>, std::uint32_t> nodes;
};

CharacterNodeBuilder::CharacterNodeBuilder(CharacterNodes& nodes) : nodes_(nodes), known_(std::make_unique<Known>()) {}
CharacterNodeBuilder::~CharacterNodeBuilder() = default;

std::uint32_t CharacterNodeBuilder::add(std::span<const ByteRun> runs) {
  return node(runs, 0);
}

// Two runs have the same range at a depth or disjoint ones: after a range of several bytes, every continuation follows.
std::uint32_t CharacterNodeBuilder::node(std::span<const ByteRun> runs, std::size_t depth) {
  if (runs.front().length == depth) return CharacterNodes::kRead;
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t past = i + 1;
    while (past < runs.size() && runs[past].low[depth] == runs[i].low[depth]) ++past;
    const Edge edge{runs[i].low[depth], runs[i].high[depth], node(runs.subspan(i, past - i), depth + 1)};
    if (!edges.empty() && edges.back().target == edge.target && edges.back().high + 1 == edge.low) {
      edges.back().high = edge.high;
    } else {
      edges.push_back(edge);
    }
    i = past;
  }
  const auto id = static_cast<std::uint32_t>(nodes_.begins.size() - 1);
  const auto [known, added] = known_->nodes.try_emplace(edges, id);
  if (!added) return known->second;
  nodes_.all.insert(nodes_.all.end(), edges.begin(), edges.end());
  nodes_.begins.push_back(static_cast<std::uint32_t>(nodes_.all.size()));
  return id;
}

void classify_bytes(GrammarProgram& program) {
  std::array<bool, 257> begins{};
  begins[0] = true;
  for (const Edge& edge : program.nodes.all) begins[edge.low] = begins[edge.high + std::size_t{1}] = true;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (begins[byte]) program.class_bytes.push_back(static_cast<std::uint8_t>(byte));
    program.byte_class[byte] = static_cast<std::uint8_t>(program.class_bytes.size() - 1);
  }
}

}  // namespace lorekeep::lm
