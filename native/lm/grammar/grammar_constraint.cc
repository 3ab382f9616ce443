#include "lm/grammar/grammar_constraint.h"

#include <algorithm>
#include <utility>

#include "core/values/error.h"

namespace lorekeep::lm {
namespace {

// Work between two looks at the memory of the machine: some hundred KB.
constexpr std::uint64_t kGrain = 32'768;
// A mask of its own is kept instead of a list of this share of the vocabulary.
constexpr std::size_t kMoreShare = 32;

}  // namespace

GrammarConstraint::GrammarConstraint(std::shared_ptr<GrammarMasks> masks, std::shared_ptr<MaskStore> store)
    : masks_(std::move(masks)), store_(std::move(store)), machine_(masks_->machine()), tokens_(masks_->tokens()) {}

GrammarConstraint::~GrammarConstraint() {
  if (started_) masks_->leave(this);
}

// Not in the constructor, which runs on another thread than the machine.
void GrammarConstraint::start() {
  if (started_) return;
  Allowance work;
  state_ = machine_.start(work);
  count(work.spent());
  masks_->join(this);
  started_ = true;
}

void GrammarConstraint::count(std::uint64_t spent) {
  token_work_ += spent;
  if (token_work_ > kMaxTokenWork) {
    fail(Code::kInvalidArgument,
         "grammar: finding the tokens that may follow takes too much work; make it less ambiguous");
  }
}

void GrammarConstraint::append_states(bool working, std::vector<State*>& states) {
  states.push_back(&state_);
  if (State* const checked = check_.state()) states.push_back(checked);
  if (!working) return walk_.drop();
  for (State& state : walk_.way()) states.push_back(&state);
}

std::optional<bool> GrammarConstraint::allows(Token token, Allowance& work) {
  switch (tokens_.kind(token)) {
    case TokenKind::kEnd: return may_end();
    case TokenKind::kControl: return false;
    case TokenKind::kText: break;
  }
  start();
  for (;;) {
    Allowance part(std::min(work.left(), kGrain));
    const std::optional<bool> allowed = check_.run(machine_, tokens_, token, state_, part);
    work.spend(part.spent());
    count(part.spent());
    masks_->limit(this);
    if (allowed || work.over()) return allowed;
  }
}

bool GrammarConstraint::prepare(Allowance& work) {
  start();
  const std::uint64_t before = work.spent();
  const bool ready = prepare_local(work) && prepare_whole(work);
  count(work.spent() - before);
  if (store_ && work.spent() > before) store_->trim(masks_.get());
  return ready;
}

GrammarMachine::State GrammarConstraint::origin() {
  Allowance work;
  return phase_ == Phase::kLocal ? machine_.local(state_, work).state : state_;
}

template <class Visit>
bool GrammarConstraint::walk(Allowance& work, Visit visit) {
  if (walk_.way().empty()) walk_.set_origin(origin());
  for (;;) {
    Allowance part(std::min(work.left(), kGrain));
    const bool ended = walk_.run(machine_, tokens_, part, visit);
    work.spend(part.spent());
    masks_->limit(this);
    if (ended || work.over()) return ended;
  }
}

bool GrammarConstraint::prepare_local(Allowance& work) {
  if (local_) return true;
  const std::span<const TokenTable::Node> trie = tokens_.trie();
  if (phase_ == Phase::kNone) {
    const GrammarMachine::Local local = machine_.local(state_, work);
    callers_ = !local.whole;
    local_ = masks_->local(local.state);
    if (local_) return true;
    phase_ = Phase::kLocal;
    bits_.clear(tokens_.size());
    exits_.clear();
    walk_.begin(local.state, 0, trie.size());
  }
  const bool ended = walk(work, [&](std::size_t node, State state) {
    bits_.add(tokens_.tokens_at(node));
    if (!machine_.may_end(state) || trie[node].past == node + 1) return;
    if (exits_.empty() || node >= trie[exits_.back()].past) exits_.push_back(static_cast<std::uint32_t>(node));
  });
  if (!ended) return false;
  local_ = masks_->add_local(origin(), {TokenMask(bits_), std::move(exits_)});
  phase_ = Phase::kNone;
  return true;
}

bool GrammarConstraint::prepare_whole(Allowance& work) {
  if (whole_ || !callers_ || local_->exits.empty()) return true;
  const std::span<const TokenTable::Node> trie = tokens_.trie();
  const auto enter = [&](std::size_t exit) { walk_.move(exit + 1, trie[exit].past); };
  if (phase_ == Phase::kNone) {
    whole_ = masks_->whole(state_);
    if (whole_) return true;
    phase_ = Phase::kExits;
    more_.clear();
    exit_ = 0;
    walk_.begin(state_, 0, 0);
    enter(local_->exits[0]);
  }
  for (;;) {
    const bool ended = walk(work, [&](std::size_t node, State) {
      const std::span<const Token> allowed = tokens_.tokens_at(node);
      more_.insert(more_.end(), allowed.begin(), allowed.end());
    });
    if (!ended) return false;
    if (++exit_ == local_->exits.size()) break;
    enter(local_->exits[exit_]);
  }
  GrammarMasks::WholeMask whole;
  if (more_.size() > tokens_.size() / kMoreShare) {
    bits_.clear(tokens_.size());
    local_->mask.add_to(bits_);
    bits_.add(more_);
    whole.mask.emplace(bits_);
  } else {
    whole.more = more_;
  }
  whole_ = masks_->add_whole(state_, std::move(whole));
  phase_ = Phase::kNone;
  return true;
}

void GrammarConstraint::mask(std::span<float> logits) {
  const bool own = whole_ && whole_->mask;
  std::vector<Token> also;
  if (whole_) also = whole_->more;
  if (may_end()) also.insert(also.end(), tokens_.ends().begin(), tokens_.ends().end());
  (own ? *whole_->mask : local_->mask).apply(logits, also);
}

void GrammarConstraint::accept(Token token) {
  start();
  if (tokens_.kind(token) == TokenKind::kText) {
    Allowance work;
    check_.run(machine_, tokens_, token, state_, work);
    if (const State* const after = check_.after(token, tokens_)) state_ = *after;
  }
  check_.reset();
  token_work_ = 0;
  local_.reset();
  whole_.reset();
  phase_ = Phase::kNone;
  walk_.drop();
}

bool GrammarConstraint::may_end() {
  start();
  return machine_.may_end(state_);
}

}  // namespace lorekeep::lm
