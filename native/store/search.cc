// Storage::search(): checks a request, runs its legs and returns the hits.
#include "store/search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "store/fusion.h"
#include "store/lexical_search.h"
#include "store/prepared_filter.h"
#include "store/storage.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kLeastCandidates = 50;
constexpr std::size_t kCandidatesPerHit = 4;

[[noreturn]] void refuse(const char* field, const std::string& reason) {
  fail(Code::kInvalidArgument, std::string(field) + ": " + reason, {{"field", std::string(field)}, {"reason", reason}});
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
  if (request.mode != Mode::kDense && storage.text_index() == nullptr) refuse("mode", "the storage has no text index");
  if (request.mode == Mode::kHybrid) {
    check_weight("rrf.k", request.rrf.k);
    check_weight("rrf.dense_weight", request.rrf.dense_weight);
    check_weight("rrf.lexical_weight", request.rrf.lexical_weight);
    if (request.rrf.dense_weight == 0 && request.rrf.lexical_weight == 0) refuse("rrf", "both weights are 0");
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
    if (request_.lexical != nullptr && request_.mode != Mode::kDense) read_query();
    switch (request_.mode) {
      case Mode::kDense: find_dense(); break;
      case Mode::kLexical: find_lexical(); break;
      case Mode::kHybrid: find_hybrid(); break;
    }
    return std::move(result_);
  }

 private:
  /// Evaluates the filter before the search.
  void select() {
    if (request_.filter == nullptr) return;
    result_.matching = matching_rows(*request_.filter, storage_, request_.work.cancel);
    selected_ = &result_.matching->rows;
    result_.plan.matched = selected_->count();
  }

  /// Resolves a query with operators. Its required and excluded clauses restrict both legs.
  void read_query() {
    const LexicalOptions& options = *request_.lexical;
    texts_.emplace(storage_, options, request_.work);
    extended_.emplace(texts_->texts(), request_.text, options.query, selected_, request_.work);
  }

  std::vector<Scored> dense_leg(std::size_t depth) {
    vector::SearchOptions options;
    options.k = std::min(depth, storage_.size());
    options.ef = request_.ef;
    options.usual_ef = usual_ef(depth);
    options.filter = selected_;
    if (selected_ != nullptr) options.filter_in_cell_order = &result_.matching->rows_in_cell_order;
    if (extended_ && extended_->allowed() != nullptr) {
      options.filter = extended_->allowed();
      options.filter_in_cell_order = nullptr;
    }
    options.path = request_.exact ? vector::SearchPath::kExact : vector::SearchPath::kAuto;
    options.work = request_.work;
    vector::SearchResult found = storage_.vectors()->search(request_.query, options);
    StoragePlan& plan = result_.plan;
    plan.dense = true;
    plan.dense_path = found.plan.path;
    plan.dense_exact = found.plan.exact;
    plan.dense_visited = found.plan.visited;
    if (request_.threshold) {
      std::erase_if(found.hits, [this](const Scored& hit) { return hit.score > *request_.threshold; });
    }
    return std::move(found.hits);
  }

  /// Returns a width that finds the first top_k as well as a dense search does. Below top_k, ranks hardly matter in the
  /// fusion, and the graph search takes half of the time, so the depth is wide enough. With a filter 0, the index's
  /// own.
  std::size_t usual_ef(std::size_t depth) const noexcept {
    if (selected_ != nullptr || (extended_ && extended_->allowed() != nullptr)) return 0;
    return std::max(vector::default_ef(request_.top_k), std::min(depth, vector::kMaxEf));
  }

  std::vector<Scored> extended_leg(std::size_t depth) {
    StoragePlan& plan = result_.plan;
    plan.lexical = true;
    plan.lexical_tokens = extended_->tokens();
    plan.lexical_terms = extended_->terms();
    plan.lexical_scored = extended_->scored();
    return extended_->search(depth);
  }

  std::vector<Scored> lexical_leg(std::size_t depth) {
    if (extended_) return extended_leg(depth);
    const text::TextQuery& query = text_query();
    text::TextSearchPlan found;
    std::vector<Scored> hits = query.search({std::min(depth, storage_.size()), selected_, request_.work.cancel}, found);
    StoragePlan& plan = result_.plan;
    plan.lexical = true;
    for (const text::QueryTerm& term : query.terms()) {
      plan.lexical_tokens += term.occurrences;
      plan.lexical_terms += term.documents > 0 ? 1 : 0;
    }
    plan.lexical_scored = static_cast<std::size_t>(found.documents_scored);
    return hits;
  }

  const text::TextQuery& text_query() {
    if (!text_query_) text_query_.emplace(*storage_.text_index(), request_.text, request_.work.cancel);
    return *text_query_;
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
    const std::size_t depth = leg_depth(request_);
    std::vector<Scored> dense;
    std::vector<Scored> lexical;
    std::vector<std::function<void()>> legs;
    if (request_.rrf.dense_weight > 0) legs.push_back([&] { dense = dense_leg(depth); });
    if (request_.rrf.lexical_weight > 0) legs.push_back([&] { lexical = lexical_leg(depth); });
    // Runs the legs in parallel if a thread is available; they write different fields of the plan.
    parallel_for(request_.work, legs.size(), 1, [&](std::size_t leg, std::size_t, std::size_t) { legs[leg](); });
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
      if (extended_) return extended_->score(ordinals, scores);
      text_query().score(ordinals, scores);
    });
  }

  /// Adds the raw score of a leg to hits that only the other leg found.
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
  const Bitmap* selected_ = nullptr;  // the matching records; null: all
  std::optional<text::TextQuery> text_query_;
  std::optional<LexicalTexts> texts_;  // of extended_
  std::optional<text::ExtendedSearch> extended_;
  SearchResult result_;
};

}  // namespace

std::size_t leg_depth(const SearchRequest& request) noexcept {
  const std::size_t wanted = request.rrf.candidates;
  return std::max(request.top_k, wanted != 0 ? wanted : std::max(kLeastCandidates, kCandidatesPerHit * request.top_k));
}

SearchResult Storage::search(const SearchRequest& request) const {
  return Search(*this, request).run();
}

}  // namespace lorekeep::store
