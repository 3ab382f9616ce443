#include "vector/earlier_graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/values/checksum.h"
#include "vector/ten_bit.h"

namespace lorekeep::vector {
namespace {

struct Content {
  std::uint64_t hash;
  std::uint32_t ordinal;
  friend auto operator<=>(const Content&, const Content&) = default;
};

bool has_scale(const VectorMatrix& rows) noexcept {
  return !rows.scale_values().empty();
}

std::span<const std::byte> code_bytes(const VectorMatrix& rows, std::uint32_t ordinal) noexcept {
  return {rows.row(ordinal), rows.stride()};
}

std::span<const std::byte> low_bytes(const VectorMatrix& rows, std::uint32_t ordinal) noexcept {
  if (rows.low_bytes().empty()) return {};
  return std::as_bytes(std::span(rows.low_row(ordinal), low_stride(rows.dimension())));
}

constexpr std::uint32_t kRowsCompared = 1024;

std::vector<Content> contents(const VectorMatrix& rows, const Work& work) {
  std::vector<Content> all(rows.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (i % kRowsCompared == 0) work.check();
    const std::uint64_t seed = has_scale(rows) ? checksum(std::as_bytes(rows.scale_values().subspan(i, 1))) : 0;
    all[i] = {checksum(low_bytes(rows, i), checksum(code_bytes(rows, i), seed)), i};
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool equal(const VectorMatrix& a, std::uint32_t i, const VectorMatrix& b, std::uint32_t j) noexcept {
  const auto same = [](std::span<const std::byte> x, std::span<const std::byte> y) {
    return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin());
  };
  return same(code_bytes(a, i), code_bytes(b, j)) && same(low_bytes(a, i), low_bytes(b, j)) &&
         (!has_scale(a) || a.scale(i) == b.scale(j));
}

/// Pairs equal rows. Of repeated rows, the first belongs to the first.
void pair_equal(const VectorMatrix& rows, const VectorMatrix& earlier, EarlierGraph& found, const Work& work) {
  const std::vector<Content> now = contents(rows, work);
  const std::vector<Content> then = contents(earlier, work);
  for (std::size_t i = 0, j = 0; i < now.size() && j < then.size();) {
    if (now[i].hash < then[j].hash) {
      ++i;
    } else if (then[j].hash < now[i].hash) {
      ++j;
    } else {
      if (i % kRowsCompared == 0) work.check();
      const std::uint32_t row = now[i++].ordinal;
      const std::uint32_t node = then[j++].ordinal;
      if (!equal(rows, row, earlier, node)) continue;
      found.earlier_of[row] = node;
      found.row_of[node] = row;
    }
  }
}

bool keeps_half_of_its_links(const EarlierGraph& found, std::uint32_t node) noexcept {
  const std::uint32_t* list = found.graph.base_list(node);
  std::size_t links = 0;
  std::size_t kept = 0;
  for (; links < found.graph.base_stride && list[links] != kNoNode; ++links) {
    if (found.row_of[list[links]] != kNoNode) ++kept;
  }
  return links > 0 && kept >= (links + 1) / 2;
}

/// A row that lost most of its neighbours would be found from few others: it is linked again.
void drop_lonely(EarlierGraph& found) {
  std::vector<std::uint32_t> lonely;
  for (std::uint32_t row = 0; row < found.earlier_of.size(); ++row) {
    const std::uint32_t node = found.earlier_of[row];
    if (node != kNoNode && !keeps_half_of_its_links(found, node)) lonely.push_back(row);
  }
  for (const std::uint32_t row : lonely) {
    found.row_of[found.earlier_of[row]] = kNoNode;
    found.earlier_of[row] = kNoNode;
  }
}

}  // namespace

std::optional<EarlierGraph> find_earlier(const VectorMatrix& rows, const VectorMatrix& earlier, const GraphView& graph,
                                         const Work& work) {
  if (rows.size() < kMinReusedRows || rows.type() != earlier.type() || rows.dimension() != earlier.dimension()) {
    return std::nullopt;
  }
  EarlierGraph found;
  found.graph = graph;
  found.earlier_of.assign(rows.size(), kNoNode);
  found.row_of.assign(earlier.size(), kNoNode);
  pair_equal(rows, earlier, found, work);
  work.check();
  drop_lonely(found);
  found.kept = static_cast<std::size_t>(
      std::count_if(found.earlier_of.begin(), found.earlier_of.end(), [](std::uint32_t at) { return at != kNoNode; }));
  const auto least = [](std::size_t all) { return (1 - kMaxChangedShare) * static_cast<double>(all); };
  const auto kept = static_cast<double>(found.kept);
  if (kept < least(rows.size()) || kept < least(earlier.size())) return std::nullopt;
  return found;
}

}  // namespace lorekeep::vector
