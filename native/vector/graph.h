// The neighbour lists of an HNSW graph, without vectors, in one layout: built, read from a file, or mapped in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/threads/cancel_token.h"
#include "core/values/buffer.h"

namespace lorekeep::vector {

/// Marks the unused end of a neighbour list.
inline constexpr std::uint32_t kNoNode = 0xffffffffu;
/// Highest level of a node. Levels are geometrically distributed with ratio 1/M: enough for 2^31 nodes with M 2.
inline constexpr std::uint32_t kMaxLevel = 31;
/// Bounds of M: there are no levels below the minimum, and longer lists than the maximum are useless.
inline constexpr std::size_t kMinM = 2;
inline constexpr std::size_t kMaxM = 512;

/// Returns the distance between lists in values. Lists fill whole cache lines (exactly two for 2M neighbours, M 16).
constexpr std::size_t list_stride(std::size_t neighbours) noexcept {
  return (neighbours + 15) / 16 * 16;
}

/// A graph for searches. Node i is record ordinal i. Nodes have up to 2M neighbours on the base level and up to M on
/// upper levels; a list ends at its stride or at the first kNoNode.
struct GraphView {
  std::size_t size = 0;
  std::uint32_t entry = kNoNode;  // kNoNode if and only if size is 0
  std::uint32_t top_level = 0;    // the entry's level
  std::size_t base_stride = 0;
  std::size_t upper_stride = 0;
  const std::uint32_t* base = nullptr;         // size * base_stride
  const std::uint32_t* upper_start = nullptr;  // size + 1: node i has the lists [start(i), start(i + 1)), level 1 first
  const std::uint32_t* upper = nullptr;        // upper_start[size] * upper_stride

  const std::uint32_t* base_list(std::uint32_t node) const noexcept { return base + node * base_stride; }
  /// Precondition: 1 <= level <= level_of(node).
  const std::uint32_t* upper_list(std::uint32_t node, std::uint32_t level) const noexcept {
    return upper + (upper_start[node] + std::size_t{level} - 1) * upper_stride;
  }
  std::uint32_t level_of(std::uint32_t node) const noexcept { return upper_start[node + 1] - upper_start[node]; }
};

/// Checks everything that a search relies on: list ends, neighbours and their levels, offsets, the entry. Throws
/// Error(kCorrupt) naming `source` and the node. The caller must check array sizes. Grain of cancellation: 4096 nodes.
void validate_graph(const GraphView& graph, std::string_view source, const CancelToken* cancel = nullptr);

/// The memory of a graph: owned and filled by a builder or an importer, or a view of a mapped file.
class Graph {
 public:
  Graph() = default;
  /// Allocates empty lists. `upper_start` has size + 1 entries. Throws Error(kOutOfMemory).
  Graph(std::size_t size, std::size_t m, std::span<const std::uint32_t> upper_start);
  Graph(const GraphView& view, std::shared_ptr<const void> owner) : view_(view), owner_(std::move(owner)) {}

  const GraphView& view() const noexcept { return view_; }
  void set_entry(std::uint32_t entry, std::uint32_t top_level) noexcept {
    view_.entry = entry;
    view_.top_level = top_level;
  }
  /// Writable lists; only for owned memory.
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
  Buffer<std::byte> base_;
  Buffer<std::byte> upper_start_;
  Buffer<std::byte> upper_;
  std::shared_ptr<const void> owner_;
};

}  // namespace lorekeep::vector
