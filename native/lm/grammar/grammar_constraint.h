// A constraint of tokens by a grammar. Internal to native/lm.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lm/grammar/constraint.h"
#include "lm/grammar/mask_store.h"
#include "lm/grammar/token_check.h"
#include "lm/grammar/trie_walk.h"

namespace lorekeep::lm {

/// A mask is computed in two parts. The first one is that of the rules the reply is in now, without their callers: most
/// states share it, as all strings of a JSON object do. The second one adds tokens that end these rules and continue
/// with their callers: it walks only below the nodes of the trie where the rules can end.
class GrammarConstraint : public TokenConstraint, private MachineUser {
 public:
  /// `store` may be null.
  GrammarConstraint(std::shared_ptr<GrammarMasks> masks, std::shared_ptr<MaskStore> store);
  ~GrammarConstraint() override;
  GrammarConstraint(const GrammarConstraint&) = delete;
  GrammarConstraint& operator=(const GrammarConstraint&) = delete;

  /// All throw Error(kInvalidArgument) as GrammarMachine::step(), and if a token takes more than kMaxTokenWork.
  std::optional<bool> allows(Token token, Allowance& work) override;
  bool prepare(Allowance& work) override;
  void mask(std::span<float> logits) override;
  void accept(Token token) override;
  bool may_end() override;

  static constexpr std::uint64_t kMaxTokenWork = 20'000'000;

 private:
  using State = GrammarMachine::State;
  enum class Phase { kNone, kLocal, kExits };

  void append_states(bool working, std::vector<State*>& states) override;
  void start();
  void count(std::uint64_t spent);
  bool prepare_local(Allowance& work);
  bool prepare_whole(Allowance& work);
  template <class Visit>
  bool walk(Allowance& work, Visit visit);
  State origin();

  std::shared_ptr<GrammarMasks> masks_;
  std::shared_ptr<MaskStore> store_;
  GrammarMachine& machine_;
  const TokenTable& tokens_;
  bool started_ = false;
  State state_ = 0;
  TokenCheck<GrammarMachine> check_;
  std::uint64_t token_work_ = 0;  // since the last accept()

  // The mask of the next token.
  std::shared_ptr<const GrammarMasks::LocalMask> local_;
  std::shared_ptr<const GrammarMasks::WholeMask> whole_;
  bool callers_ = false;  // the rules have callers, so that whole_ is needed
  Phase phase_ = Phase::kNone;
  TrieWalk<GrammarMachine> walk_;
  TokenBits bits_;
  std::vector<std::uint32_t> exits_;
  std::vector<Token> more_;
  std::size_t exit_ = 0;
};

}  // namespace lorekeep::lm
