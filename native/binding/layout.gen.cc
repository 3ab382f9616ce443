// Written by scripts/generate-layouts.mjs. Compares the enumerators with their numbers in lib/boundary/layout.gen.ts.
#include <cstddef>
#include <initializer_list>

#include "engine/placement.h"
#include "lm/grammar/grammar.h"
#include "lm/model/language_model.h"
#include "lm/prompt/chat_template.h"
#include "scheduler/consumer_class.h"
#include "store/search.h"
#include "vector/recall_report.h"
#include "vector/vector_index.h"

namespace lorekeep::binding {
namespace {

/// Returns whether the enumerators have the numbers 0, 1, 2 and so on.
template <class Enumerator>
consteval bool are_numbered(std::initializer_list<Enumerator> enumerators) {
  std::size_t next = 0;
  for (const Enumerator enumerator : enumerators) {
    if (static_cast<std::size_t>(enumerator) != next++) return false;
  }
  return true;
}

}  // namespace

static_assert(are_numbered({store::Mode::kDense, store::Mode::kLexical, store::Mode::kHybrid}));
static_assert(are_numbered({vector::TriedFilter::kNone, vector::TriedFilter::kRandom, vector::TriedFilter::kNear, vector::TriedFilter::kFar}));
static_assert(are_numbered({store::Fusion::kRrf, store::Fusion::kScores}));
static_assert(are_numbered({vector::SearchPath::kExact, vector::SearchPath::kGraph, vector::SearchPath::kCells}));
static_assert(are_numbered({engine::Placement::kRam, engine::Placement::kVram, engine::Placement::kAuto}));
static_assert(are_numbered({lm::Runtime::kAuto, lm::Runtime::kLlama, lm::Runtime::kDecoder}));
static_assert(are_numbered({lm::CacheType::kF16, lm::CacheType::kQ8_0}));
static_assert(are_numbered({lm::Role::kSystem, lm::Role::kUser, lm::Role::kAssistant}));
static_assert(are_numbered({lm::Thinking::kDefault, lm::Thinking::kOn, lm::Thinking::kOff}));
static_assert(are_numbered({scheduler::ConsumerClass::kInteractiveVisible, scheduler::ConsumerClass::kInteractiveBuffered, scheduler::ConsumerClass::kBackground}));
static_assert(are_numbered({lm::GrammarMatch::kRefused, lm::GrammarMatch::kBeginning, lm::GrammarMatch::kConforms}));

}  // namespace lorekeep::binding
