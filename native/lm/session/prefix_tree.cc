#include "lm/session/prefix_tree.h"

#include <algorithm>
#include <utility>

#include "core/values/wipe.h"

namespace lorekeep::lm {

// Every node but the root has at least one entry below it.
struct PrefixTree::Node {
  ~Node() { wipe_bytes(edge.data(), edge.size() * sizeof(Token)); }

  std::vector<Token> edge;  // the tokens from the parent to this node
  Node* parent = nullptr;
  std::map<Token, std::unique_ptr<Node>> children;  // by the first token of their edges
  std::set<Entry> entries;                          // entries that end here

  const Node* child(Token token) const {
    const auto found = children.find(token);
    return found == children.end() ? nullptr : found->second.get();
  }
  std::size_t common(std::span<const Token> tokens) const {
    const std::size_t most = std::min(edge.size(), tokens.size());
    return static_cast<std::size_t>(
        std::mismatch(edge.begin(), edge.begin() + static_cast<std::ptrdiff_t>(most), tokens.begin()).first -
        edge.begin());
  }
  Entry any() const {
    const Node* node = this;
    while (node->entries.empty()) node = node->children.begin()->second.get();
    return *node->entries.begin();
  }
};

PrefixTree::PrefixTree() : root_(std::make_unique<Node>()) {}

PrefixTree::~PrefixTree() {
  clear();
}

// Frees the nodes one by one: destructors of a deep tree would nest.
void PrefixTree::clear() {
  while (!places_.empty()) erase(places_.begin()->first);
}

void PrefixTree::set(Entry entry, std::span<const Token> tokens) {
  Node* node = descend(root_.get(), tokens);
  node->entries.insert(entry);  // first, so that erase() keeps a common path
  const auto old = places_.find(entry);
  if (old != places_.end() && old->second != node) {
    Node* before = old->second;
    before->entries.erase(entry);
    places_[entry] = node;
    prune(before);
    return;
  }
  places_[entry] = node;
}

// Returns the node of these tokens, making it if necessary.
PrefixTree::Node* PrefixTree::descend(Node* node, std::span<const Token> tokens) {
  while (!tokens.empty()) {
    auto& place = node->children[tokens.front()];
    if (!place) {
      place = std::make_unique<Node>();
      place->edge.assign(tokens.begin(), tokens.end());
      place->parent = node;
      return place.get();
    }
    const std::size_t common = place->common(tokens);
    if (common < place->edge.size()) {
      auto head = std::make_unique<Node>();
      head->edge.assign(place->edge.begin(), place->edge.begin() + static_cast<std::ptrdiff_t>(common));
      head->parent = node;
      place->edge.erase(place->edge.begin(), place->edge.begin() + static_cast<std::ptrdiff_t>(common));
      place->parent = head.get();
      const Token first = place->edge.front();
      head->children.emplace(first, std::move(place));
      place = std::move(head);
    }
    node = place.get();
    tokens = tokens.subspan(common);
  }
  return node;
}

void PrefixTree::erase(Entry entry) {
  const auto found = places_.find(entry);
  if (found == places_.end()) return;
  Node* node = found->second;
  places_.erase(found);
  node->entries.erase(entry);
  prune(node);
}

// Removes nodes without entries and merges a node with its only child.
void PrefixTree::prune(Node* node) {
  while (node->parent != nullptr && node->entries.empty() && node->children.empty()) {
    Node* parent = node->parent;
    parent->children.erase(node->edge.front());
    node = parent;
  }
  if (node->parent == nullptr || !node->entries.empty() || node->children.size() != 1) return;
  // Allocates before anything changes.
  node->children.begin()->second->edge.reserve(node->edge.size() + node->children.begin()->second->edge.size());
  std::unique_ptr<Node> child = std::move(node->children.begin()->second);
  Node* parent = node->parent;
  child->edge.insert(child->edge.begin(), node->edge.begin(), node->edge.end());
  child->parent = parent;
  parent->children[child->edge.front()] = std::move(child);  // frees `node`
}

PrefixTree::Match PrefixTree::longest(std::span<const Token> prompt) const {
  const Node* node = root_.get();
  std::size_t matched = 0;
  while (matched < prompt.size()) {
    const Node* next = node->child(prompt[matched]);
    if (next == nullptr) break;
    const std::size_t common = next->common(prompt.subspan(matched));
    matched += common;
    node = next;
    if (common < next->edge.size()) break;
  }
  return matched == 0 ? Match{} : Match{node->any(), matched};
}

PrefixTree::Match PrefixTree::longest_whole(std::span<const Token> prompt) const {
  const Node* node = root_.get();
  std::size_t matched = 0;
  Match best;
  while (matched < prompt.size()) {
    const Node* next = node->child(prompt[matched]);
    if (next == nullptr || next->common(prompt.subspan(matched)) < next->edge.size()) break;
    matched += next->edge.size();
    node = next;
    if (!node->entries.empty()) best = {*node->entries.begin(), matched};
  }
  return best;
}

// With a stack of its own: a deep tree would overflow the thread's.
void PrefixTree::walk(const Visit& visit) const {
  std::vector<std::pair<const Node*, std::size_t>> waiting;
  const auto add_children = [&waiting](const Node& node, std::size_t depth) {
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child)
      waiting.emplace_back(child->second.get(), depth);
  };
  add_children(*root_, 0);
  while (!waiting.empty()) {
    const auto [node, depth] = waiting.back();
    waiting.pop_back();
    visit(depth, node->edge.size(), node->entries);
    add_children(*node, depth + 1);
  }
}

std::vector<Token> PrefixTree::tokens(Entry entry) const {
  std::vector<const Node*> path;
  for (const Node* node = places_.at(entry); node->parent != nullptr; node = node->parent) path.push_back(node);
  std::vector<Token> tokens;
  for (auto node = path.rbegin(); node != path.rend(); ++node)
    tokens.insert(tokens.end(), (*node)->edge.begin(), (*node)->edge.end());
  return tokens;
}

}  // namespace lorekeep::lm
