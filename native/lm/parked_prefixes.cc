#include "lm/parked_prefixes.h"

#include <algorithm>
#include <utility>

namespace lorekeep::lm {

bool ParkedPrefixes::wants(std::span<const Token> tokens) {
  if (most_bytes_ == 0 || tokens.empty()) return false;
  const PrefixTree::Match match = find(tokens);
  if (match.tokens < tokens.size()) return true;
  parked_.at(match.entry).last_use = ++uses_;
  return false;
}

void ParkedPrefixes::add(Entry entry, std::span<const Token> tokens, std::vector<std::byte> state) {
  Parked parked{std::move(state), tokens.size(), ++uses_};
  if (parked.bytes() > most_bytes_) return;
  erase(entry);
  if (partial_) {
    // States of its prefixes say nothing more.
    for (PrefixTree::Match covered = tree_.longest_whole(tokens); covered.tokens > 0;
         covered = tree_.longest_whole(tokens))
      erase(covered.entry);
  }
  while (bytes_ + parked.bytes() > most_bytes_) {
    const auto oldest = std::min_element(parked_.begin(), parked_.end(), [](const auto& a, const auto& b) {
      return a.second.last_use < b.second.last_use;
    });
    erase(oldest->first);
  }
  bytes_ += parked.bytes();
  tree_.set(entry, tokens);
  parked_.emplace(entry, std::move(parked));
}

PrefixTree::Match ParkedPrefixes::find(std::span<const Token> prompt) const {
  return partial_ ? tree_.longest(prompt) : tree_.longest_whole(prompt);
}

ParkedPrefixes::State ParkedPrefixes::use(Entry entry) {
  Parked& parked = parked_.at(entry);
  parked.last_use = ++uses_;
  return {parked.state, parked.tokens};
}

void ParkedPrefixes::erase(Entry entry) {
  const auto found = parked_.find(entry);
  if (found == parked_.end()) return;
  bytes_ -= found->second.bytes();
  tree_.erase(entry);
  parked_.erase(found);
}

void ParkedPrefixes::clear() {
  tree_.clear();
  parked_.clear();
  bytes_ = 0;
}

}  // namespace lorekeep::lm
