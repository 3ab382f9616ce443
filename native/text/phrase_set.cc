#include "text/phrase_set.h"

#include <algorithm>
#include <numeric>

#include "text/english_words.h"

namespace lorekeep::text {
namespace {

std::uint64_t edge_of(std::uint32_t node, std::uint32_t token) noexcept {
  return std::uint64_t{node} << 32 | token;
}

}  // namespace

PhraseSet::PhraseSet(std::span<const QueryClause* const> clauses, Tokenizer tokenizer)
    : clauses_(clauses.begin(), clauses.end()), tokenizer_(tokenizer) {
  for (std::uint32_t phrase = 0; phrase < clauses_.size(); ++phrase) {
    required_ += clauses_[phrase]->sign == Clause::Sign::kRequired ? 1 : 0;
    reads_words_ = reads_words_ || (clauses_[phrase]->open && tokenizer == Tokenizer::kEnhanced);
    add(phrase);
  }
  finish();
}

void PhraseSet::add(std::uint32_t phrase) {
  const QueryClause& clause = *clauses_[phrase];
  if (!clause.open) return add_to_group(nodes_[path_of(clause.phrase)].group, phrase);
  const std::string& prefix = clause.phrase.back();
  const std::uint32_t before = path_of(std::span(clause.phrase).first(clause.phrase.size() - 1));
  if (nodes_[before].ends == kNone) {
    nodes_[before].ends = static_cast<std::uint32_t>(ends_.size());
    ends_.emplace_back();
  }
  ends_[nodes_[before].ends].added.emplace_back(prefix, phrase);
  for (const std::string& term : clause.unions.back().terms) {  // a prefix that is a word has its other forms
    if (!term.starts_with(prefix)) add_to_group(nodes_[child(before, term)].group, phrase);
  }
}

/// Sets what leads from one node to others.
void PhraseSet::finish() {
  std::vector<std::uint32_t> by_depth(nodes_.size());
  std::iota(by_depth.begin(), by_depth.end(), 0u);
  std::sort(by_depth.begin(), by_depth.end(),
            [this](std::uint32_t a, std::uint32_t b) { return nodes_[a].depth < nodes_[b].depth; });
  for (const std::uint32_t at : by_depth) {
    Node& node = nodes_[at];
    if (node.depth > 1) node.shorter = next(nodes_[node.parent].shorter, node.token);
    node.with_group = node.group != kNone ? at : nodes_[node.shorter].with_group;
    node.with_ends = node.ends != kNone ? at : nodes_[node.shorter].with_ends;
  }
  for (Ends& ends : ends_) {
    std::vector<std::string> prefixes;
    for (const auto& [prefix, phrase] : ends.added) prefixes.push_back(prefix);
    ends.prefixes = PrefixSet(std::move(prefixes));
    ends.groups.resize(ends.prefixes.size(), kNone);
    for (const auto& [prefix, phrase] : ends.added) {
      add_to_group(ends.groups[ends.prefixes.position_of(prefix)], phrase);
    }
  }
}

std::uint32_t PhraseSet::child(std::uint32_t node, std::string_view token) {
  const std::uint32_t number = tokens_.add(token);
  if (number == first_.size()) first_.push_back(kRoot);
  if (const std::uint32_t known = child_of(node, number); known != kRoot) return known;
  const auto added = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.token = number, .parent = node, .depth = nodes_[node].depth + 1});
  if (node == kRoot) return first_[number] = added;
  Node& parent = nodes_[node];
  if (parent.first_token == kNone) {
    parent.first_token = number;
    parent.first_child = added;
  } else {
    parent.branches = true;
    edges_.emplace(edge_of(node, number), added);
  }
  return added;
}

/// Returns kRoot if the phrases have no such child.
std::uint32_t PhraseSet::child_of(std::uint32_t node, std::uint32_t token) const noexcept {
  if (node == kRoot) return first_[token];
  if (nodes_[node].first_token == token) return nodes_[node].first_child;
  if (!nodes_[node].branches) return kRoot;
  const auto edge = edges_.find(edge_of(node, token));
  return edge == edges_.end() ? kRoot : edge->second;
}

std::uint32_t PhraseSet::path_of(std::span<const std::string> tokens) {
  std::uint32_t node = kRoot;
  for (const std::string& token : tokens) node = child(node, token);
  return node;
}

void PhraseSet::add_to_group(std::uint32_t& group, std::uint32_t phrase) {
  if (group == kNone) {
    group = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back();
  }
  groups_[group].push_back(phrase);
}

std::uint32_t PhraseSet::next(std::uint32_t node, std::uint32_t token) const noexcept {
  while (true) {
    const std::uint32_t child = child_of(node, token);
    if (child != kRoot || node == kRoot) return child;
    node = nodes_[node].shorter;
  }
}

PhraseReader::PhraseReader(const PhraseSet& set)
    : set_(set), phrases_(set.clauses_.size()), groups_(set.groups_.size()) {}

void PhraseReader::begin() noexcept {
  ++document_;
  missing_ = set_.required_;
  excluded_ = decided_ = false;
}

void PhraseReader::read(std::string_view text, const CancelToken* cancel) {
  node_ = PhraseSet::kRoot;
  if (decided_) return;
  if (set_.reads_words_) {
    return for_each_english_word(text, cancel,
                                 [this](std::string_view word, std::string_view token) { step(word, token); });
  }
  for_each_token(
      text, set_.tokenizer_,
      [this](std::string_view token, TokenKind kind) {
        if (kind == TokenKind::kWord) step(token, token);
      },
      cancel);
}

void PhraseReader::step(std::string_view word, std::string_view token) {
  if (decided_) return;
  const std::uint32_t before = node_;
  const std::uint32_t number = set_.tokens_.find(token);
  const std::vector<PhraseSet::Node>& nodes = set_.nodes_;
  node_ = number == TokenNumbers::kNone ? PhraseSet::kRoot : set_.next(before, number);
  for (std::uint32_t at = nodes[node_].with_group; at != PhraseSet::kRoot; at = nodes[nodes[at].shorter].with_group) {
    if (!find_group(nodes[at].group)) break;
  }
  for (std::uint32_t at = nodes[before].with_ends; at != PhraseSet::kRoot; at = nodes[nodes[at].shorter].with_ends) {
    find_ends(set_.ends_[nodes[at].ends], word);
    if (set_.reads_words_) find_ends(set_.ends_[nodes[at].ends], token);
  }
}

/// The word or its stem follows the tokens before the prefixes.
void PhraseReader::find_ends(const PhraseSet::Ends& ends, std::string_view word) {
  std::uint32_t at = ends.prefixes.longest_of(word);
  while (at != PrefixSet::kNone && find_group(ends.groups[at])) at = ends.prefixes.shorter_than(at);
}

/// Returns false if the document is known to contain the phrases of the group.
bool PhraseReader::find_group(std::uint32_t group) {
  if (groups_[group] == document_) return false;
  groups_[group] = document_;
  for (const std::uint32_t phrase : set_.groups_[group]) {
    if (std::exchange(phrases_[phrase], document_) == document_) continue;
    if (set_.clauses_[phrase]->sign == Clause::Sign::kExcluded) {
      excluded_ = true;
    } else {
      --missing_;
    }
  }
  decided_ = excluded_ || (missing_ == 0 && set_.required_ == set_.clauses_.size());
  return true;
}

}  // namespace lorekeep::text
