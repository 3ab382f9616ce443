// Written by scripts/generate-layouts.mjs. Compares the enumerators with their numbers in lib/layout.gen.ts.
#include <cstddef>

#include "engine/placement.h"
#include "lm/chat_template.h"
#include "lm/grammar.h"
#include "lm/language_model.h"
#include "scheduler/consumer_class.h"
#include "store/search.h"
#include "vector/recall_report.h"
#include "vector/vector_index.h"

namespace lorekeep::binding {

static_assert(static_cast<std::size_t>(store::Mode::kDense) == 0);
static_assert(static_cast<std::size_t>(store::Mode::kLexical) == 1);
static_assert(static_cast<std::size_t>(store::Mode::kHybrid) == 2);

static_assert(static_cast<std::size_t>(vector::TriedFilter::kNone) == 0);
static_assert(static_cast<std::size_t>(vector::TriedFilter::kRandom) == 1);
static_assert(static_cast<std::size_t>(vector::TriedFilter::kNear) == 2);
static_assert(static_cast<std::size_t>(vector::TriedFilter::kFar) == 3);

static_assert(static_cast<std::size_t>(store::Fusion::kRrf) == 0);
static_assert(static_cast<std::size_t>(store::Fusion::kScores) == 1);

static_assert(static_cast<std::size_t>(vector::SearchPath::kExact) == 0);
static_assert(static_cast<std::size_t>(vector::SearchPath::kGraph) == 1);
static_assert(static_cast<std::size_t>(vector::SearchPath::kCells) == 2);

static_assert(static_cast<std::size_t>(engine::Placement::kRam) == 0);
static_assert(static_cast<std::size_t>(engine::Placement::kVram) == 1);
static_assert(static_cast<std::size_t>(engine::Placement::kAuto) == 2);

static_assert(static_cast<std::size_t>(lm::Runtime::kAuto) == 0);
static_assert(static_cast<std::size_t>(lm::Runtime::kLlama) == 1);
static_assert(static_cast<std::size_t>(lm::Runtime::kDecoder) == 2);

static_assert(static_cast<std::size_t>(lm::CacheType::kF16) == 0);
static_assert(static_cast<std::size_t>(lm::CacheType::kQ8_0) == 1);

static_assert(static_cast<std::size_t>(lm::Role::kSystem) == 0);
static_assert(static_cast<std::size_t>(lm::Role::kUser) == 1);
static_assert(static_cast<std::size_t>(lm::Role::kAssistant) == 2);

static_assert(static_cast<std::size_t>(lm::Thinking::kDefault) == 0);
static_assert(static_cast<std::size_t>(lm::Thinking::kOn) == 1);
static_assert(static_cast<std::size_t>(lm::Thinking::kOff) == 2);

static_assert(static_cast<std::size_t>(scheduler::ConsumerClass::kInteractiveVisible) == 0);
static_assert(static_cast<std::size_t>(scheduler::ConsumerClass::kInteractiveBuffered) == 1);
static_assert(static_cast<std::size_t>(scheduler::ConsumerClass::kBackground) == 2);

static_assert(static_cast<std::size_t>(lm::GrammarMatch::kRefused) == 0);
static_assert(static_cast<std::size_t>(lm::GrammarMatch::kBeginning) == 1);
static_assert(static_cast<std::size_t>(lm::GrammarMatch::kConforms) == 2);

}  // namespace lorekeep::binding
