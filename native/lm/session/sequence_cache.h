// The sequences of a model's KV cache: their cells, the prefixes that they share, and the idle ones, which later
// requests may continue. Used by the inference thread only. Internal to native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lm/model/generation_context.h"
#include "lm/session/cell_ledger.h"
#include "lm/session/prefix_file.h"
#include "lm/session/prefix_tree.h"
#include "lm/session/session_numbers.h"
#include "lm/session/session_request.h"

namespace lorekeep::lm {

class SequenceCache {
 public:
  /// Chunks of deterministic models end at multiples of this position.
  static constexpr std::uint32_t kGrid = 64;

  explicit SequenceCache(std::unique_ptr<GenerationContext> context);
  ~SequenceCache();
  SequenceCache(const SequenceCache&) = delete;
  SequenceCache& operator=(const SequenceCache&) = delete;

  /// Forgets everything and frees the context. No request can be placed until open().
  void close();
  void open(std::unique_ptr<GenerationContext> context);

  /// Precondition: not closed.
  GenerationContext& context() noexcept { return *context_; }
  const GenerationContext& context() const noexcept { return *context_; }
  const CellLedger& cells() const noexcept { return ledger_; }
  /// Sequences that no request uses.
  std::uint32_t idle() const noexcept;
  /// Returns the tree of the sequences' tokens: at most two parts per sequence.
  PrefixParts prefixes(Clock::time_point now) const;
  /// Whether requests can share a part of a sequence.
  bool partial_reuse() const noexcept;
  /// Tokens at the beginning of a request, without its last one, that some sequence has.
  std::uint32_t known_tokens(const SessionRequest& running) const;

  /// Gives a request a sequence and reserves the cells that it may need, evicting idle sequences. Returns false if
  /// there is no room; then only idle sequences changed.
  bool place(SessionRequest& running);
  /// Adds tokens that were computed.
  void extend(SessionRequest& running, std::uint32_t tokens);
  /// Takes the sequence of a request away. It is queued again.
  void take_away(SessionRequest& running);
  /// The same, with its state moved to main memory.
  void park(SessionRequest& running);
  /// Makes the sequence of a request that ended idle: a later prompt may begin with the same tokens.
  void keep(SessionRequest& running);
  /// Evicts the idle sequence that was used the longest time ago. Returns false if there is none but pinned ones.
  bool evict_one();
  /// Evicts the idle sequences with tokens that `unwanted` finds, but not pinned ones. Returns how many there were.
  std::uint32_t evict(const std::function<bool(std::span<const Token>)>& unwanted);

  /// Returns a pinned prefix with its state. Throws Error(kInternal) if the cache lost it.
  SavedPrefix save(const PinnedPrefix& prefix);
  /// Puts a saved prefix into the cache, pinned. Throws Error(kOutOfMemory), Error(kCorrupt).
  void restore(const std::shared_ptr<PinnedPrefix>& prefix, PrefixTree::Entry entry, std::span<const std::byte> state);

 private:
  /// The sequence with the tokens of an entry of the tree.
  struct Holder {
    std::int32_t sequence;
    std::uint64_t last_use;
    std::shared_ptr<PinnedPrefix> pin;  // null: none
    bool idle;                          // no request uses it
    Clock::time_point used = Clock::now();

    bool evictable() const noexcept { return idle && (pin == nullptr || pin->released()); }
  };

  bool resume(SessionRequest& running);
  void attach(SessionRequest& running);
  std::span<const Token> reusable(const SessionRequest& running) const;
  void hold(PrefixTree::Entry entry, std::span<const Token> tokens, Holder holder);
  void forget(PrefixTree::Entry entry);
  bool make_room(std::uint32_t cells);
  std::optional<std::int32_t> take_sequence();
  void release_sequence(std::int32_t sequence);

  std::shared_ptr<const LanguageModel> model_;
  std::unique_ptr<GenerationContext> context_;  // null: closed
  CellLedger ledger_;
  PrefixTree tree_;
  std::map<PrefixTree::Entry, Holder> holders_;
  std::vector<std::int32_t> free_sequences_;
  std::uint64_t uses_ = 0;
};

}  // namespace lorekeep::lm
