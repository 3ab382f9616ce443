// Runs a grammar over bytes. All ways to read the text so far are followed at once; sets of positions are numbered and
// their transitions remembered, so that most bytes cost one look-up. Internal to native/lm.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/values/seeded_hash.h"
#include "lm/grammar/allowance.h"
#include "lm/grammar/grammar.h"
#include "lm/grammar/grammar_program.h"
#include "lm/grammar/position_set.h"

namespace lorekeep::lm {

class GrammarMachine {
 public:
  /// The number of a set of positions. Valid until compact().
  using State = std::int32_t;

  explicit GrammarMachine(std::shared_ptr<const Grammar> grammar);

  State start(Allowance& work);
  /// Writes the state after one more byte and returns true; returns false if the grammar does not allow it. Throws
  /// Error(kInvalidArgument) if the text can be read in more than kMaxPositions ways at once.
  bool step(State from, std::uint8_t byte, State& to, Allowance& work);
  bool may_end(State state) const noexcept { return sets_[static_cast<std::size_t>(state)].accepts; }

  /// A state without the callers that all of its positions have in common. It may end where these would continue.
  struct Local {
    State state;
    bool whole;  // there are no such callers
  };
  Local local(State state, Allowance& work);

  /// Forgets all states but these, whose numbers change.
  void compact(std::span<State* const> live);
  /// An approximation of the memory that it has.
  std::size_t bytes() const noexcept;

  static constexpr std::size_t kMaxPositions = 16'384;

 private:
  using Position = GrammarPosition;
  using Positions = std::vector<Position>;

  static constexpr State kUnknown = -2;
  static constexpr State kDead = -1;
  static constexpr std::uint32_t kBottom = 0;
  static constexpr std::uint64_t kMaxCommonWork = 65'536;

  struct Set {
    Positions positions;  // sorted
    bool accepts = false;
    bool whole = false;         // see Local
    State local = kUnknown;     // see Local
    std::vector<State> next{};  // by byte class; empty: all unknown
  };
  struct Frame {
    std::uint32_t resume;
    std::uint32_t below;
    std::uint32_t depth;
  };
  /// Positions before they are followed, and the state that they lead to.
  struct Kernel {
    Positions positions;
    State state;
  };

  std::uint32_t push(std::uint32_t resume, std::uint32_t below);
  std::uint32_t common_stack(const Positions& positions, Allowance& work) const;
  State reach(Positions kernel, Allowance& work);
  Set follow(const Positions& kernel, Allowance& work);
  State intern(Set set);
  State compute(State from, std::uint8_t byte, Allowance& work);

  std::shared_ptr<const Grammar> grammar_;
  const GrammarProgram& program_;
  std::vector<Set> sets_;
  std::unordered_multimap<std::uint64_t, State, SeededHash> by_hash_;
  std::unordered_multimap<std::uint64_t, Kernel, SeededHash> kernels_;
  std::vector<Frame> frames_;
  std::unordered_map<std::uint64_t, std::uint32_t, SeededHash> frame_ids_;
  PositionSet seen_;
  Positions open_;
  std::size_t kept_ = 0;  // positions of all sets and kernels
  std::size_t rows_ = 0;  // sets with known transitions
};

}  // namespace lorekeep::lm
