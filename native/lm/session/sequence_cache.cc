#include "lm/session/sequence_cache.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "core/values/error.h"
#include "core/values/wipe.h"

namespace lorekeep::lm {

SequenceCache::SequenceCache(std::unique_ptr<GenerationContext> context)
    : model_(context->shared_model()), ledger_(model_->options().kv_cells) {
  open(std::move(context));
}

SequenceCache::~SequenceCache() = default;

void SequenceCache::open(std::unique_ptr<GenerationContext> context) {
  context_ = std::move(context);
  for (std::int32_t sequence = context_->sequences(); sequence-- > 0;) free_sequences_.push_back(sequence);
}

void SequenceCache::close() {
  holders_.clear();
  tree_.clear();
  ledger_ = CellLedger(ledger_.capacity());
  free_sequences_.clear();
  context_.reset();
}

std::uint32_t SequenceCache::idle() const noexcept {
  return static_cast<std::uint32_t>(
      std::count_if(holders_.begin(), holders_.end(), [](const auto& entry) { return entry.second.idle; }));
}

PrefixParts SequenceCache::prefixes(Clock::time_point now) const {
  PrefixParts parts;
  tree_.walk([&](std::size_t depth, std::size_t tokens, const std::set<PrefixTree::Entry>& entries) {
    PrefixPart& part = parts.emplace_back();
    part.depth = static_cast<std::uint32_t>(depth);
    part.tokens = static_cast<std::uint32_t>(tokens);
    auto used = Clock::time_point::min();
    for (const PrefixTree::Entry entry : entries) {
      const Holder& holder = holders_.at(entry);
      ++(holder.idle ? part.kept : part.running);
      if (holder.idle && !holder.evictable()) ++part.pinned;
      used = std::max(used, holder.used);
    }
    if (!entries.empty()) part.idle_ms = std::chrono::duration<double, std::milli>(now - used).count();
  });
  return parts;
}

std::uint32_t SequenceCache::known_tokens(const SessionRequest& running) const {
  return static_cast<std::uint32_t>(tree_.longest(std::span(running.tokens).first(running.tokens.size() - 1)).tokens);
}

bool SequenceCache::partial_reuse() const noexcept {
  return model_->facts().memory == Memory::kAttention;
}

bool SequenceCache::place(SessionRequest& running) {
  const std::optional<std::int32_t> sequence = take_sequence();
  if (!sequence) return false;
  running.sequence = *sequence;
  if (running.parked.empty() || !resume(running)) attach(running);
  if (make_room(running.limit - running.computed)) {
    ledger_.reserve(running.sequence, running.limit);
    running.parked = {};
    return true;
  }
  release_sequence(std::exchange(running.sequence, -1));
  running.computed = 0;
  return false;
}

// Restores the state of a parked request. Without it, its tokens are computed again.
bool SequenceCache::resume(SessionRequest& running) {
  if (!make_room(running.limit)) return false;
  if (!context_->restore(running.sequence, running.parked, static_cast<std::int32_t>(running.parked_tokens)))
    return false;
  ledger_.extend(running.sequence, running.parked_tokens);
  running.computed = running.parked_tokens;
  return true;
}

void SequenceCache::park(SessionRequest& running) {
  if (running.computed > 0) {
    running.parked = context_->save(running.sequence);
    running.parked_tokens = running.computed;
  }
  take_away(running);
}

// Shares the longest prefix that some sequence has. At least one token stays to be computed: it gives the logits.
void SequenceCache::attach(SessionRequest& running) {
  const std::span<const Token> wanted = std::span(running.tokens).first(running.tokens.size() - 1);
  PrefixTree::Match match = partial_reuse() ? tree_.longest(wanted) : tree_.longest_whole(wanted);
  if (model_->options().deterministic && partial_reuse()) match.tokens -= match.tokens % kGrid;
  if (match.tokens <= running.computed) return;
  if (running.computed > 0) {
    if (!context_->remove(running.sequence, -1)) return;
    ledger_.truncate(running.sequence, 0);
  }
  Holder& holder = holders_.at(match.entry);
  holder.last_use = ++uses_;
  holder.used = Clock::now();
  const std::int32_t from = holder.sequence;
  context_->share(from, running.sequence, partial_reuse() ? static_cast<std::int32_t>(match.tokens) : -1);
  ledger_.share(from, running.sequence, static_cast<std::uint32_t>(match.tokens));
  running.computed = static_cast<std::uint32_t>(match.tokens);
}

// Evicts idle prefixes until this many cells are free.
bool SequenceCache::make_room(std::uint32_t cells) {
  while (ledger_.available() < cells) {
    if (!evict_one()) return false;
  }
  return true;
}

std::optional<std::int32_t> SequenceCache::take_sequence() {
  if (free_sequences_.empty() && !evict_one()) return std::nullopt;
  const std::int32_t sequence = free_sequences_.back();
  free_sequences_.pop_back();
  return sequence;
}

bool SequenceCache::evict_one() {
  auto oldest = holders_.end();
  for (auto at = holders_.begin(); at != holders_.end(); ++at) {
    if (!at->second.evictable()) continue;
    if (oldest == holders_.end() || at->second.last_use < oldest->second.last_use) oldest = at;
  }
  if (oldest == holders_.end()) return false;
  const PrefixTree::Entry entry = oldest->first;
  release_sequence(oldest->second.sequence);
  forget(entry);
  return true;
}

std::uint32_t SequenceCache::evict(const std::function<bool(std::span<const Token>)>& unwanted) {
  std::vector<PrefixTree::Entry> gone;
  for (const auto& [entry, holder] : holders_) {
    if (!holder.evictable()) continue;
    std::vector<Token> tokens = tree_.tokens(entry);
    if (unwanted(tokens)) gone.push_back(entry);
    wipe_bytes(tokens.data(), tokens.size() * sizeof(Token));
  }
  for (const PrefixTree::Entry entry : gone) {
    release_sequence(holders_.at(entry).sequence);
    forget(entry);
  }
  return static_cast<std::uint32_t>(gone.size());
}

void SequenceCache::release_sequence(std::int32_t sequence) {
  context_->remove(sequence, -1);
  ledger_.release(sequence);
  free_sequences_.push_back(sequence);
}

void SequenceCache::hold(PrefixTree::Entry entry, std::span<const Token> tokens, Holder holder) {
  tree_.set(entry, tokens);
  holders_[entry] = std::move(holder);
}

void SequenceCache::forget(PrefixTree::Entry entry) {
  tree_.erase(entry);
  holders_.erase(entry);
}

void SequenceCache::extend(SessionRequest& running, std::uint32_t tokens) {
  ledger_.extend(running.sequence, tokens);
  running.computed += tokens;
  if (running.generated() == 0 && partial_reuse())
    hold(running.id, reusable(running), {running.sequence, ++uses_, {}, false});
}

void SequenceCache::keep(SessionRequest& running) {
  if (running.sequence < 0) return;
  const bool unwanted = running.forgotten && !running.input.pin;
  if (unwanted || running.computed == 0 || ledger_.length(running.sequence) != running.computed) {
    forget(running.id);
    release_sequence(std::exchange(running.sequence, -1));
    return;
  }
  ledger_.reserve(running.sequence, 0);
  if (running.input.pin) running.input.pin->entry = running.id;
  hold(running.id, reusable(running), {std::exchange(running.sequence, -1), ++uses_, running.input.pin, true});
}

// The computed tokens that other requests may share. Deterministic models share whole chunks of prompts only: tokens
// computed one by one, or in other chunks, have other last bits.
std::span<const Token> SequenceCache::reusable(const SessionRequest& running) const {
  std::size_t count = running.computed;
  if (model_->options().deterministic && partial_reuse()) {
    count = std::min(count, running.input.prompt.size());
    count -= count % kGrid;
  }
  return std::span(running.tokens).first(count);
}

void SequenceCache::take_away(SessionRequest& running) {
  forget(running.id);
  release_sequence(std::exchange(running.sequence, -1));
  running.computed = 0;
  running.waits.reset();
}

SavedPrefix SequenceCache::save(const PinnedPrefix& prefix) {
  const auto holder = holders_.find(prefix.entry);
  if (holder == holders_.end()) lorekeep::fail(Code::kInternal, "the prefix is no longer in the cache");
  return {prefix.tokens(), context_->save(holder->second.sequence)};
}

void SequenceCache::restore(const std::shared_ptr<PinnedPrefix>& prefix, PrefixTree::Entry entry,
                            std::span<const std::byte> state) {
  const auto tokens = static_cast<std::uint32_t>(prefix->tokens().size());
  const std::optional<std::int32_t> sequence = make_room(tokens) ? take_sequence() : std::nullopt;
  if (!sequence) {
    lorekeep::fail(Code::kOutOfMemory, "the prefix needs " + std::to_string(tokens) + " cells of the KV cache, and " +
                                           std::to_string(ledger_.available()) + " of " +
                                           std::to_string(ledger_.capacity()) + " are free");
  }
  if (!context_->restore(*sequence, state, static_cast<std::int32_t>(tokens))) {
    free_sequences_.push_back(*sequence);
    lorekeep::fail(Code::kCorrupt, "the runtime does not accept the state");
  }
  ledger_.extend(*sequence, tokens);
  prefix->entry = entry;
  hold(entry, prefix->tokens(), {*sequence, ++uses_, prefix, true});
}

}  // namespace lorekeep::lm
