#include "lm/grammar/mask_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lorekeep::lm {

GrammarMasks::GrammarMasks(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTable> tokens)
    : machine_(std::move(grammar)), tokens_(std::move(tokens)) {}

std::shared_ptr<const GrammarMasks::LocalMask> GrammarMasks::local(State state) const {
  const auto found = locals_.find(state);
  return found == locals_.end() ? nullptr : found->second;
}

std::shared_ptr<const GrammarMasks::LocalMask> GrammarMasks::add_local(State state, LocalMask mask) {
  mask_bytes_ += mask.mask.bytes() + mask.exits.size() * sizeof(std::uint32_t);
  auto added = std::make_shared<const LocalMask>(std::move(mask));
  locals_.insert_or_assign(state, added);
  return added;
}

std::shared_ptr<const GrammarMasks::WholeMask> GrammarMasks::whole(State state) const {
  const auto found = wholes_.find(state);
  return found == wholes_.end() ? nullptr : found->second;
}

std::shared_ptr<const GrammarMasks::WholeMask> GrammarMasks::add_whole(State state, WholeMask mask) {
  mask_bytes_ += sizeof(mask) + mask.more.size() * sizeof(Token) + (mask.mask ? mask.mask->bytes() : 0);
  auto added = std::make_shared<const WholeMask>(std::move(mask));
  wholes_.insert_or_assign(state, added);
  return added;
}

void GrammarMasks::limit(MachineUser* working) {
  if (bytes() > limit_) forget(working);
}

void GrammarMasks::forget(MachineUser* working) {
  locals_.clear();
  wholes_.clear();
  mask_bytes_ = 0;
  std::vector<State*> states;
  for (MachineUser* user : users_) user->append_states(user == working, states);
  machine_.compact(states);
  // States in use may take more than the limit by themselves.
  limit_ = std::max(kMaxBytes, 2 * bytes());
}

std::shared_ptr<const Grammar> MaskStore::grammar(std::string_view text, const CancelToken* cancel) {
  {
    std::lock_guard lock(mutex_);
    const auto known =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.text == text; });
    if (known != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, known);
      return entries_.front().grammar;
    }
  }
  std::shared_ptr<const Grammar> grammar = Grammar::parse(text, cancel);
  std::lock_guard lock(mutex_);
  entries_.push_front({std::string(text), grammar, nullptr, 0});
  bytes_ += entries_.front().fixed_bytes();
  drop_idle();
  return grammar;
}

std::shared_ptr<GrammarMasks> MaskStore::masks(const std::shared_ptr<const Grammar>& grammar) {
  std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.grammar == grammar; });
  if (known == entries_.end()) return std::make_shared<GrammarMasks>(grammar, tokens_);
  if (!known->masks) known->masks = std::make_shared<GrammarMasks>(grammar, tokens_);
  return known->masks;
}

/// Drops the least recently used grammars without a request, but the latest one. Precondition: the lock is held.
void MaskStore::drop_idle() {
  for (auto at = entries_.end(); bytes_ > kMaxBytes && at != entries_.begin() && std::prev(at) != entries_.begin();) {
    --at;
    if (!at->idle()) continue;
    bytes_ -= at->mask_bytes + at->fixed_bytes();
    at = entries_.erase(at);
  }
}

void MaskStore::trim(GrammarMasks* working) {
  std::lock_guard lock(mutex_);
  const auto count = [this](Entry& entry) {
    bytes_ -= entry.mask_bytes;
    entry.mask_bytes = entry.masks ? entry.masks->bytes() : 0;
    bytes_ += entry.mask_bytes;
  };
  for (Entry& entry : entries_) count(entry);
  drop_idle();
  for (auto at = entries_.rbegin(); bytes_ > kMaxBytes && at != entries_.rend(); ++at) {
    if (!at->masks || at->masks.get() == working) continue;
    at->masks->forget(nullptr);
    count(*at);
  }
}

std::size_t MaskStore::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace lorekeep::lm
