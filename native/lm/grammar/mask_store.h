// Compiled grammars of a model's requests and the masks computed for them. Internal to native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lm/grammar/grammar_machine.h"
#include "lm/grammar/token_mask.h"
#include "lm/text/token_table.h"

namespace lorekeep::lm {

/// The states that one request needs of a machine. They are renumbered when the machine forgets the others.
class MachineUser {
 public:
  virtual ~MachineUser() = default;
  /// Appends the addresses of its states. `working`: the user whose work made the machine grow keeps all of its states;
  /// the others keep only those that they cannot compute again.
  virtual void append_states(bool working, std::vector<GrammarMachine::State*>& states) = 0;
};

/// A grammar's machine with the masks of its states for one vocabulary. Used by one thread at a time.
class GrammarMasks {
 public:
  using State = GrammarMachine::State;

  /// The mask of a local state (GrammarMachine::Local), and the nodes of the trie behind which callers may continue:
  /// the tokens below are to be checked with the callers.
  struct LocalMask {
    TokenMask mask;
    std::vector<std::uint32_t> exits;
  };
  /// The tokens below the exits that the callers of a state allow; or a mask of its own, if they are many.
  struct WholeMask {
    std::vector<Token> more;
    std::optional<TokenMask> mask;
  };

  GrammarMasks(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTable> tokens);

  GrammarMachine& machine() noexcept { return machine_; }
  const TokenTable& tokens() const noexcept { return *tokens_; }

  /// Null: not known.
  std::shared_ptr<const LocalMask> local(State state) const;
  std::shared_ptr<const LocalMask> add_local(State state, LocalMask mask);
  std::shared_ptr<const WholeMask> whole(State state) const;
  std::shared_ptr<const WholeMask> add_whole(State state, WholeMask mask);

  void join(MachineUser* user) { users_.push_back(user); }
  void leave(MachineUser* user) { std::erase(users_, user); }
  bool used() const noexcept { return !users_.empty(); }
  /// Forgets all but the states of the users if it has grown too large.
  void limit(MachineUser* working);
  void forget(MachineUser* working);
  std::size_t bytes() const noexcept { return machine_.bytes() + mask_bytes_; }

  /// Above it everything but the states in use is forgotten.
  static constexpr std::size_t kMaxBytes = std::size_t{8} << 20;

 private:
  GrammarMachine machine_;
  std::shared_ptr<const TokenTable> tokens_;
  std::unordered_map<State, std::shared_ptr<const LocalMask>> locals_;
  std::unordered_map<State, std::shared_ptr<const WholeMask>> wholes_;
  std::size_t mask_bytes_ = 0;
  std::size_t limit_ = kMaxBytes;
  std::vector<MachineUser*> users_;
};

/// Grammars and masks by the grammar's text, the least recently used ones dropped. get() may be called on any thread;
/// the masks are used, and trimmed, by the thread that computes the model.
class MaskStore {
 public:
  explicit MaskStore(std::shared_ptr<const TokenTable> tokens) : tokens_(std::move(tokens)) {}

  /// Returns the grammar of a text, compiled now or before. Throws, and polls `cancel`, as Grammar::parse().
  std::shared_ptr<const Grammar> grammar(std::string_view text, const CancelToken* cancel = nullptr);
  /// Returns the masks of a grammar, whose states are computed when they are needed.
  std::shared_ptr<GrammarMasks> masks(const std::shared_ptr<const Grammar>& grammar);
  /// Drops what takes more than kMaxBytes together: first grammars without a request, then all states but those that
  /// requests are in.
  void trim(GrammarMasks* working);
  /// Bytes of everything it keeps; of masks, as of the latest trim().
  std::size_t bytes() const;

  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

 private:
  struct Entry {
    std::string text;
    std::shared_ptr<const Grammar> grammar;
    std::shared_ptr<GrammarMasks> masks;  // null: not yet asked for
    std::size_t mask_bytes = 0;           // as of the latest trim()

    bool idle() const noexcept { return !masks || masks.use_count() == 1; }
    std::size_t fixed_bytes() const noexcept { return 2 * text.size() + grammar->bytes(); }
  };

  void drop_idle();

  std::shared_ptr<const TokenTable> tokens_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the most recently used one first
  std::size_t bytes_ = 0;     // of all entries
};

}  // namespace lorekeep::lm
