// Storage::search: one request, from its checks to its hits.
#include "store/search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "filter/evaluation.h"
#include "store/fusion.h"
#include "store/storage.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kLeastCandidates = 50;
constexpr std::size_t kCandidatesPerHit = 4;

[[noreturn]] void refuse(const char* field, const std::string& reason) {
  fail(Code::kInvalidArgument, std::string(field) + ": " + reason, {{"field", std::string(field)}});
}

void check_weight(const char* field, double value) {
  if (!(std::isfinite(value) && value >= 0)) refuse(field, "a finite number from 0 up is expected");
}

void check(const Storage& storage, const SearchRequest& request) {
  if (request.top_k == 0) refuse("top_k", "at least 1 is expected");
  if (request.threshold && !(*request.threshold >= 0 && *request.threshold <= 2)) {
    refuse("threshold", "a cosine distance from 0 to 2 is expected");
  }
  if (request.mode != Mode::kLexical) {
    if (storage.vectors() == nullptr) refuse("mode", "the storage has no vectors");
    if (request.query.empty()) refuse("query", "a vector is expected");
  }
  if (request.mode != Mode::kDense && storage.words() == nullptr) refuse("mode", "the storage has no text index");
  if (request.mode == Mode::kHybrid) {
    check_weight("rrf.k", request.rrf.k);
    check_weight("rrf.dense_weight", request.rrf.dense_weight);
    check_weight("rrf.lexical_weight", request.rrf.lexical_weight);
    if (request.rrf.dense_weight == 0 && request.rrf.lexical_weight == 0) refuse("rrf", "both weights are 0");
  }
  if (request.allowed != nullptr && request.allowed->size() != storage.size()) {
    refuse("allowed", "its size is not the storage's");
  }
}

class Search {
 public:
  Search(const Storage& storage, const SearchRequest& request) : storage_(storage), request_(request) {
    check(storage, request);
    result_.plan.mode = request.mode;
  }

  SearchResult run() && {
    select();
    switch (request_.mode) {
      case Mode::kDense: find_dense(); break;
      case Mode::kLexical: find_lexical(); break;
      case Mode::kHybrid: find_hybrid(); break;
    }
    return std::move(result_);
  }

 private:
  /// Which records may be found at all, known before anything is searched.
  void select() {
    if (request_.filter != nullptr) {
      const filter::Columns none(std::make_shared<const filter::Schema>(), storage_.size(), {});
      const filter::Columns* metadata = storage_.metadata() == nullptr ? &none : storage_.metadata();
      filtered_ = filter::evaluate(*request_.filter, *metadata, request_.work.cancel);
      if (request_.allowed != nullptr) filtered_.intersect(*request_.allowed);
      selected_ = &filtered_;
    } else {
      selected_ = request_.allowed;
    }
    if (selected_ != nullptr) result_.plan.matched = selected_->count();
  }

  std::vector<Scored> dense_leg(std::size_t depth) {
    vector::SearchOptions options;
    options.k = std::min(depth, storage_.size());
    options.ef = request_.ef != 0 ? request_.ef : default_ef(depth);
    options.filter = selected_;
    options.arranged = request_.filter == nullptr ? request_.arranged : nullptr;
    options.path = request_.exact ? vector::SearchPath::kExact : vector::SearchPath::kAuto;
    options.work = request_.work;
    vector::SearchResult found = storage_.vectors()->search(request_.query, options);
    SearchPlan& plan = result_.plan;
    plan.dense = true;
    plan.dense_path = found.plan.path;
    plan.dense_exact = found.plan.exact;
    plan.dense_visited = found.plan.visited;
    if (request_.threshold) {
      std::erase_if(found.hits, [this](const Scored& hit) { return hit.score > *request_.threshold; });
    }
    return std::move(found.hits);
  }

  /// The first top_k are found as well as a dense search of that top_k finds them. Behind them, where fusion counts
  /// ranks by little and the walk is half of a search's time, its width is the depth. Under a filter it is the index's
  /// own.
  std::size_t default_ef(std::size_t depth) const noexcept {
    if (selected_ != nullptr) return 0;
    return std::max({vector::kDefaultEf, 2 * request_.top_k, std::min(depth, vector::kMaxEf)});
  }

  std::vector<Scored> lexical_leg(std::size_t depth) {
    const text::TextQuery& words = query_words();
    text::TextSearchPlan found;
    std::vector<Scored> hits = words.search({std::min(depth, storage_.size()), selected_, request_.work.cancel}, found);
    SearchPlan& plan = result_.plan;
    plan.lexical = true;
    for (const text::QueryTerm& term : words.terms()) {
      plan.lexical_tokens += term.occurrences;
      plan.lexical_terms += term.documents > 0 ? 1 : 0;
    }
    plan.lexical_scored = static_cast<std::size_t>(found.documents_scored);
    return hits;
  }

  const text::TextQuery& query_words() {
    if (!words_) words_.emplace(*storage_.words(), request_.text, request_.work.cancel);
    return *words_;
  }

  void find_dense() {
    std::uint32_t rank = 0;
    for (const Scored& found : dense_leg(request_.top_k)) {
      Hit hit{};
      hit.ordinal = found.ordinal;
      hit.score = 1.0 - static_cast<double>(found.score);
      hit.distance = found.score;
      hit.dense_rank = ++rank;
      result_.hits.push_back(hit);
    }
  }

  void find_lexical() {
    std::uint32_t rank = 0;
    for (const Scored& found : lexical_leg(request_.top_k)) {
      Hit hit{};
      hit.ordinal = found.ordinal;
      hit.score = found.score;
      hit.bm25_score = found.score;
      hit.lexical_rank = ++rank;
      result_.hits.push_back(hit);
    }
  }

  void find_hybrid() {
    const std::size_t wanted = request_.rrf.candidates != 0
                                   ? request_.rrf.candidates
                                   : std::max(kLeastCandidates, kCandidatesPerHit * request_.top_k);
    const std::size_t depth = std::max(wanted, request_.top_k);
    std::vector<Scored> dense;
    std::vector<Scored> lexical;
    // Side by side where there is a thread for it: the legs write different fields of the plan.
    parallel_for(request_.work, 2, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t leg = begin; leg < end; ++leg) {
        if (leg == 0 && request_.rrf.dense_weight > 0) dense = dense_leg(depth);
        if (leg == 1 && request_.rrf.lexical_weight > 0) lexical = lexical_leg(depth);
      }
    });
    for (const Fused& fused : fuse(dense, lexical, request_.rrf, request_.top_k)) {
      Hit hit{};
      hit.ordinal = fused.ordinal;
      hit.score = fused.score;
      hit.dense_rank = fused.dense_rank;
      hit.lexical_rank = fused.lexical_rank;
      if (fused.dense_rank) hit.distance = dense[*fused.dense_rank - 1].score;
      if (fused.lexical_rank) hit.bm25_score = lexical[*fused.lexical_rank - 1].score;
      result_.hits.push_back(hit);
    }
    complete(&Hit::distance, [&](std::span<const std::uint32_t> ordinals, std::span<float> distances) {
      storage_.vectors()->score(request_.query, ordinals, distances);
    });
    complete(&Hit::bm25_score, [&](std::span<const std::uint32_t> ordinals, std::span<float> scores) {
      query_words().score(ordinals, scores);
    });
  }

  /// What one leg alone found gets the other's raw score: the number that the leg itself would have given.
  template <class Score>
  void complete(std::optional<float> Hit::* value, Score&& score) {
    std::vector<std::uint32_t> ordinals;
    for (const Hit& hit : result_.hits) {
      if (!(hit.*value)) ordinals.push_back(hit.ordinal);
    }
    if (ordinals.empty()) return;
    std::vector<float> scores(ordinals.size());
    score(ordinals, scores);
    auto next = scores.begin();
    for (Hit& hit : result_.hits) {
      if (!(hit.*value)) hit.*value = *next++;
    }
  }

  const Storage& storage_;
  const SearchRequest& request_;
  Bitmap filtered_;
  const Bitmap* selected_ = nullptr;  // null: all records
  std::optional<text::TextQuery> words_;
  SearchResult result_;
};

}  // namespace

SearchResult Storage::search(const SearchRequest& request) const {
  return Search(*this, request).run();
}

}  // namespace lorekeep::store
