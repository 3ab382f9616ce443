// The neighbour lists of an HNSW graph, apart from the vectors: built here, read from a file, or mapped in place,
// always in this one layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/cancel_token.h"
#include "vector/aligned_buffer.h"

namespace lorekeep::vector {

/// Fills the unused end of a neighbour list.
inline constexpr std::uint32_t kNoNode = 0xffffffffu;
/// Levels above 0 that a node may have. A level is geometric with ratio 1/M: beyond 2^31 nodes at M 2, and more.
inline constexpr std::uint32_t kMaxLevel = 31;
/// Bounds of M: below 2 there are no levels, above it lists would be longer than any search has use for.
inline constexpr std::size_t kMinM = 2;
inline constexpr std::size_t kMaxM = 512;

/// Values from one list to the next: lists fill whole cache lines (2M neighbours of M 16: exactly two).
constexpr std::size_t list_stride(std::size_t neighbours) noexcept {
  return (neighbours + 15) / 16 * 16;
}

/// What a search reads. Node i is record ordinal i. Nodes of the base level have up to 2M neighbours, of upper levels
/// up to M; a list ends at its stride or at the first kNoNode.
struct GraphView {
  std::size_t size = 0;
  std::uint32_t entry = kNoNode;  // kNoNode exactly when size is 0
  std::uint32_t top_level = 0;    // the entry's level
  std::size_t base_stride = 0;
  std::size_t upper_stride = 0;
  const std::uint32_t* base = nullptr;         // size * base_stride
  const std::uint32_t* upper_start = nullptr;  // size + 1: lists of node i, level 1 first, are [start(i), start(i + 1))
  const std::uint32_t* upper = nullptr;        // upper_start[size] * upper_stride

  const std::uint32_t* base_list(std::uint32_t node) const noexcept { return base + node * base_stride; }
  /// Precondition: 1 <= level <= level_of(node).
  const std::uint32_t* upper_list(std::uint32_t node, std::uint32_t level) const noexcept {
    return upper + (upper_start[node] + std::size_t{level} - 1) * upper_stride;
  }
  std::uint32_t level_of(std::uint32_t node) const noexcept { return upper_start[node + 1] - upper_start[node]; }
};

/// Checks everything that a search relies on: list ends, neighbours and their levels, offsets, the entry. Throws
/// Error(kCorrupt) naming `source` and the node. Array sizes are the caller's to check. Grain of cancellation: 4096
/// nodes.
void validate_graph(const GraphView& graph, std::string_view source, const CancelToken* cancel = nullptr);

/// Graph memory: owned, to be filled by a builder or an importer, or a view of a mapped file.
class Graph {
 public:
  Graph() = default;
  /// All lists empty. `upper_start` has size + 1 entries. Throws Error(kOutOfMemory).
  Graph(std::size_t size, std::size_t m, std::span<const std::uint32_t> upper_start);
  Graph(const GraphView& view, std::shared_ptr<const void> owner) : view_(view), owner_(std::move(owner)) {}

  const GraphView& view() const noexcept { return view_; }
  void set_entry(std::uint32_t entry, std::uint32_t top_level) noexcept {
    view_.entry = entry;
    view_.top_level = top_level;
  }
  /// Writable lists, of owned memory only.
  std::uint32_t* base_list(std::uint32_t node) noexcept { return base_.as<std::uint32_t>() + node * view_.base_stride; }
  std::uint32_t* upper_list(std::uint32_t node, std::uint32_t level) noexcept {
    return upper_.as<std::uint32_t>() + (view_.upper_start[node] + std::size_t{level} - 1) * view_.upper_stride;
  }

  std::span<const std::uint32_t> base_values() const noexcept { return {view_.base, view_.size * view_.base_stride}; }
  std::span<const std::uint32_t> upper_start_values() const noexcept { return {view_.upper_start, view_.size + 1}; }
  std::span<const std::uint32_t> upper_values() const noexcept {
    return {view_.upper, view_.upper_start[view_.size] * view_.upper_stride};
  }
  std::size_t heap_bytes() const noexcept { return base_.size() + upper_start_.size() + upper_.size(); }

 private:
  GraphView view_;
  AlignedBuffer base_;
  AlignedBuffer upper_start_;
  AlignedBuffer upper_;
  std::shared_ptr<const void> owner_;
};

}  // namespace lorekeep::vector
