// Storage::search: one request, from its checks to its hits.
#include "store/search.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

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
      filtered_ = filter::evaluate(*request_.filter, *metadata, request_.cancel);
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
    options.ef = request_.ef;
    options.filter = selected_;
    options.path = request_.exact ? vector::SearchPath::kExact : vector::SearchPath::kAuto;
    options.cancel = request_.cancel;
    options.pool = request_.pool;
    options.workers = request_.workers;
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

  std::vector<Scored> lexical_leg(std::size_t depth) {
    text::TextSearchResult found =
        storage_.words()->search(request_.text, {std::min(depth, storage_.size()), selected_, request_.cancel});
    SearchPlan& plan = result_.plan;
    plan.lexical = true;
    for (const text::QueryTerm& term : found.terms) {
      plan.lexical_tokens += term.occurrences;
      plan.lexical_terms += term.documents > 0 ? 1 : 0;
    }
    plan.lexical_scored = static_cast<std::size_t>(found.plan.documents_scored);
    return std::move(found.hits);
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
    parallel_for(request_.pool, request_.workers, 2, 1, request_.cancel,
                 [&](std::size_t begin, std::size_t end, std::size_t) {
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
    complete_distances();
    complete_scores();
  }

  /// The hits for which `value` is still empty, as a bitmap; nothing when there are none.
  std::optional<Bitmap> hits_without(std::optional<float> Hit::* value) const {
    std::optional<Bitmap> missing;
    for (const Hit& hit : result_.hits) {
      if (hit.*value) continue;
      if (!missing) missing.emplace(storage_.size());
      missing->set(hit.ordinal);
    }
    return missing;
  }

  void take(std::optional<float> Hit::* value, std::span<const Scored> found) {
    for (Hit& hit : result_.hits) {
      if (hit.*value) continue;
      const auto scored = std::find_if(found.begin(), found.end(),
                                       [&hit](const Scored& candidate) { return candidate.ordinal == hit.ordinal; });
      if (scored != found.end()) hit.*value = scored->score;
    }
  }

  // What one leg alone found gets the other's raw score from a search of just those records: the same kernels in the
  // same order, so the number is the one that the leg itself would have given.

  void complete_distances() {
    const auto missing = hits_without(&Hit::distance);
    if (!missing) return;
    vector::SearchOptions options;
    options.k = result_.hits.size();
    options.filter = &*missing;
    options.path = vector::SearchPath::kExact;
    options.cancel = request_.cancel;
    take(&Hit::distance, storage_.vectors()->search(request_.query, options).hits);
  }

  void complete_scores() {
    const auto missing = hits_without(&Hit::bm25_score);
    if (!missing) return;
    if (!result_.plan.lexical || result_.plan.lexical_terms > 0) {
      take(&Hit::bm25_score,
           storage_.words()->search(request_.text, {result_.hits.size(), &*missing, request_.cancel}).hits);
    }
    for (Hit& hit : result_.hits) hit.bm25_score = hit.bm25_score.value_or(0.0f);
  }

  const Storage& storage_;
  const SearchRequest& request_;
  Bitmap filtered_;
  const Bitmap* selected_ = nullptr;  // null: all records
  SearchResult result_;
};

}  // namespace

std::string_view mode_name(Mode mode) noexcept {
  switch (mode) {
    case Mode::kDense: return "dense";
    case Mode::kLexical: return "lexical";
    case Mode::kHybrid: return "hybrid";
  }
  return "";
}

SearchResult Storage::search(const SearchRequest& request) const {
  return Search(*this, request).run();
}

}  // namespace lorekeep::store
