#include "vector/graph.h"

#include <algorithm>
#include <string>

#include "core/values/error.h"
#include "vector/vector_type.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kNodesPerPoll = 4096;

class Validator {
 public:
  Validator(const GraphView& graph, std::string_view source) : graph_(graph), source_(source) {}

  void check_offsets() const {
    if (graph_.upper_start[0] != 0) refuse(0, "its upper lists do not start at 0");
    for (std::size_t i = 0; i < graph_.size; ++i) {
      if (graph_.upper_start[i + 1] < graph_.upper_start[i]) refuse(i, "its upper lists end before they start");
      if (graph_.upper_start[i + 1] - graph_.upper_start[i] > kMaxLevel) refuse(i, "it has too many levels");
    }
  }
  void check_entry() const {
    if (graph_.entry >= graph_.size) refuse(graph_.entry, "the entry is not a node");
    if (graph_.level_of(graph_.entry) != graph_.top_level) refuse(graph_.entry, "the entry is not on the top level");
  }
  void check_node(std::size_t node) const {
    const auto id = static_cast<std::uint32_t>(node);
    check_list(id, graph_.base_list(id), graph_.base_stride, 0);
    const std::uint32_t levels = graph_.level_of(id);
    if (levels > graph_.top_level) refuse(node, "its level is above the entry's");
    for (std::uint32_t level = 1; level <= levels; ++level) {
      check_list(id, graph_.upper_list(id, level), graph_.upper_stride, level);
    }
  }

 private:
  void check_list(std::uint32_t node, const std::uint32_t* list, std::size_t stride, std::uint32_t level) const {
    std::size_t length = 0;
    while (length < stride && list[length] != kNoNode) ++length;
    for (std::size_t i = 0; i < length; ++i) {
      if (list[i] >= graph_.size) refuse(node, "neighbour " + std::to_string(list[i]) + " does not exist");
      if (level > 0 && graph_.level_of(list[i]) < level) refuse(node, "a neighbour is not on its level");
    }
    for (std::size_t i = length; i < stride; ++i) {
      if (list[i] != kNoNode) refuse(node, "its list has a neighbour after its end");
    }
  }
  [[noreturn]] void refuse(std::size_t node, const std::string& reason) const {
    fail_file(Code::kCorrupt, std::string(source_), "graph node " + std::to_string(node) + ": " + reason,
              {{"node", static_cast<std::int64_t>(node)}});
  }

  const GraphView& graph_;
  std::string_view source_;
};

}  // namespace

void validate_graph(const GraphView& graph, std::string_view source, const CancelToken* cancel) {
  const Validator validator(graph, source);
  validator.check_offsets();
  if (graph.size == 0) return;
  validator.check_entry();
  for (std::size_t node = 0; node < graph.size; ++node) {
    if (cancel != nullptr && node % kNodesPerPoll == 0) cancel->check();
    validator.check_node(node);
  }
}

Graph::Graph(std::size_t size, std::size_t m, std::span<const std::uint32_t> upper_start) {
  view_.size = size;
  view_.base_stride = list_stride(2 * m);
  view_.upper_stride = list_stride(m);
  base_ = Buffer<std::byte>::zeroed(size * view_.base_stride * sizeof(std::uint32_t));
  upper_start_ = Buffer<std::byte>::zeroed(upper_start.size_bytes());
  upper_ = Buffer<std::byte>::zeroed(upper_start[size] * view_.upper_stride * sizeof(std::uint32_t));
  std::copy(upper_start.begin(), upper_start.end(), upper_start_.as<std::uint32_t>());
  std::fill_n(base_.as<std::uint32_t>(), size * view_.base_stride, kNoNode);
  std::fill_n(upper_.as<std::uint32_t>(), upper_start[size] * view_.upper_stride, kNoNode);
  view_.base = base_.as<std::uint32_t>();
  view_.upper_start = upper_start_.as<std::uint32_t>();
  view_.upper = upper_.as<std::uint32_t>();
}

}  // namespace lorekeep::vector
