// Runs a grammar over bytes. All ways to read the text so far are followed at once; sets of positions are numbered and
// their transitions remembered, so that most bytes cost one look-up. Internal to native/lm.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "lm/grammar/grammar.h"
#include "lm/grammar/grammar_program.h"

namespace lorekeep::lm {

class GrammarMachine {
 public:
  /// The number of a set of positions. Valid until compact().
  using State = std::int32_t;

  /// `max_work`: positions that may be looked at between two calls of begin_token().
  explicit GrammarMachine(std::shared_ptr<const Grammar> grammar, std::uint64_t max_work = kMaxWork);

  State start() const noexcept { return start_; }
  /// Writes the state after one more byte and returns true; returns false if the grammar does not allow it. Throws
  /// Error(kInvalidArgument) if the text can be read in more than kMaxPositions ways at once, or if it takes more
  /// than the allowed work.
  bool step(State from, std::uint8_t byte, State& to);
  bool may_end(State state) const noexcept { return sets_[static_cast<std::size_t>(state)].accepts; }
  /// Forgets all states but `live`, whose numbers change, if there are many.
  void compact(std::span<State> live);
  /// Begins the work of another token.
  void begin_token() noexcept { work_ = 0; }

  static constexpr std::size_t kMaxPositions = 16'384;
  static constexpr std::uint64_t kMaxWork = 10'000'000;    // under a second
  static constexpr std::uint64_t kMaxMatchWork = 500'000;  // of a whole text: some 30 ms
  static constexpr std::size_t kMaxSets = 8192;
  static constexpr std::size_t kMaxKept = 1'000'000;  // positions of all sets

 private:
  static constexpr std::int32_t kUnknown = -2;
  static constexpr std::int32_t kDead = -1;
  static constexpr std::uint32_t kBottom = 0;

  struct Position {
    std::uint32_t state;
    std::uint32_t run;  // 0: before a character; else 1 + 4 * byte run + bytes of it that were read
    std::uint32_t stack;
    auto operator<=>(const Position&) const = default;
  };
  struct PositionHash {
    std::size_t operator()(const Position& position) const noexcept {
      std::uint64_t hash = (std::uint64_t{position.state} << 32) | position.stack;
      hash = (hash ^ (hash >> 29)) * 0x9E3779B97F4A7C15u;
      return static_cast<std::size_t>(hash ^ (hash >> 32));
    }
  };
  struct Set {
    std::vector<Position> positions;  // sorted
    bool accepts = false;
    std::unique_ptr<std::array<std::int32_t, 256>> next;
  };
  struct Frame {
    std::uint32_t resume;
    std::uint32_t below;
  };

  std::uint32_t push(std::uint32_t resume, std::uint32_t below);
  void close(std::vector<Position>& open, Set& set);
  State intern(Set set);
  State initial();
  std::int32_t compute(State from, std::uint8_t byte);

  std::shared_ptr<const Grammar> grammar_;
  const GrammarProgram& program_;
  std::vector<Set> sets_;
  std::unordered_multimap<std::uint64_t, State> by_hash_;
  std::vector<Frame> frames_;
  std::unordered_map<std::uint64_t, std::uint32_t> frame_ids_;
  State start_ = 0;
  std::uint64_t work_ = 0;
  std::uint64_t max_work_;
  std::size_t kept_ = 0;
};

}  // namespace lorekeep::lm
