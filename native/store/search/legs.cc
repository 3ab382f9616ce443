#include "store/search/stages.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "text/extended_syntax.h"

namespace lorekeep::store {

namespace {

/// Returns the rows of all parts in one bitmap. Parts begin at multiples of 64 rows.
Bitmap joined(const Storage& storage, const MatchingRows& matching) {
  Bitmap all(storage.rows());
  for (std::size_t i = 0; i < matching.parts(); ++i) {
    const auto& words = matching.of(i).rows.words();
    std::copy(words.begin(), words.end(), all.words().begin() + storage.parts()[i].first_row / 64);
  }
  return all;
}

/// Adds the counts of a further part of a storage.
void add_plan(const vector::VectorPlan& part, vector::VectorPlan& plan) {
  plan.matched += part.matched;
  plan.visited += part.visited;
  plan.hops += part.hops;
  plan.exact = plan.exact && part.exact;
}

}  // namespace

Query::Query(const Storage& storage, const SearchRequest& request)
    : storage_(storage), request_(request), meaning_(storage, request.query) {
  if (request.filter != nullptr) {
    const Stopwatch stopwatch;
    matching_ = matching_rows(*request.filter, storage, request.work.cancel);
    filter_ms_ = stopwatch.ms();
  }
  if (request.lexical == nullptr || request.mode == Mode::kDense) return;
  // Required and excluded clauses restrict both legs.
  texts_.emplace(storage, *request.lexical, request.work);
  if (matching_ && matching_->parts() > 1) candidates_ = joined(storage, *matching_);
  const Bitmap* const candidates = candidates_ ? &*candidates_ : matching_ ? &matching_->rows : nullptr;
  extended_.emplace(texts_->texts(), request.text, request.lexical->query, candidates, request.work);
  if (extended_->allowed() != nullptr) restrict(*extended_->allowed());
}

void Query::restrict(const Bitmap& rows) {
  for (const Part& part : storage_.parts()) {
    Bitmap own(part.segment->size());
    const auto begin = rows.words().begin() + part.first_row / 64;
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(own.words().size()), own.words().begin());
    allowed_.push_back(std::move(own));
  }
}

const Bitmap* Query::selected(std::size_t part) const noexcept {
  if (!allowed_.empty()) return &allowed_[part];
  return matching_ ? &matching_->of(part).rows : storage_.parts()[part].live();
}

Legs Query::run() {
  switch (request_.mode) {
    case Mode::kDense: return {dense_leg(request_.top_k), std::nullopt};
    case Mode::kLexical: return {std::nullopt, lexical_leg(request_.top_k)};
    case Mode::kHybrid: break;
  }
  return hybrid_legs();
}

Legs Query::hybrid_legs() {
  const std::size_t depth = leg_depth(request_);
  const bool by_scores = request_.fusion == Fusion::kScores;
  Legs found;
  std::vector<std::function<void()>> legs;
  if ((by_scores ? request_.dense_weight : request_.rrf.dense_weight) > 0) {
    legs.push_back([&] { found.dense = dense_leg(depth); });
  }
  if (by_scores ? request_.dense_weight < 1 : request_.rrf.lexical_weight > 0) {
    legs.push_back([&] { found.lexical = lexical_leg(depth); });
  }
  parallel_for(request_.work, legs.size(), 1, [&](std::size_t leg, std::size_t, std::size_t) { legs[leg](); });
  return found;
}

DenseLeg Query::dense_leg(std::size_t depth) const {
  const Stopwatch stopwatch;
  vector::SearchOptions options;
  options.k = std::min(depth, storage_.size());
  options.ef = request_.ef;
  options.usual_ef = usual_ef(depth);
  options.path = request_.exact ? vector::SearchPath::kExact : vector::SearchPath::kAuto;
  options.work = request_.work;
  vector::SearchResult found;
  if (storage_.plain()) {
    found = search_part(0, options);
  } else {
    options.collection = storage_.size();
    found = search_parts(options);
  }
  if (request_.threshold) {
    std::erase_if(found.hits, [this](const Scored& hit) { return hit.score > *request_.threshold; });
  }
  return {std::move(found.hits), found.plan, stopwatch.ms()};
}

/// Searches the largest part first. Its k-th hit bounds the distances of hits in the others, and the reach of its walk
/// those of theirs. The plan's path is of the largest part.
vector::SearchResult Query::search_parts(vector::SearchOptions options) const {
  const auto& parts = storage_.parts();
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&parts](std::size_t a, std::size_t b) {
    return parts[a].segment->size() > parts[b].segment->size();
  });
  vector::SearchResult found = search_part(order.front(), options);
  options.horizon = found.plan.reach;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (options.k > 0 && found.hits.size() == options.k) options.limit = found.hits.back().score;
    const vector::SearchResult more = search_part(order[i], options);
    add_plan(more.plan, found.plan);
    if (more.hits.empty()) continue;
    found.hits.insert(found.hits.end(), more.hits.begin(), more.hits.end());
    std::sort(found.hits.begin(), found.hits.end(), NearestFirst());
    found.hits.resize(std::min(found.hits.size(), options.k));
  }
  return found;
}

/// Returns rows of the storage. An empty part is searched too, because the index checks the query.
vector::SearchResult Query::search_part(std::size_t at, vector::SearchOptions options) const {
  const Part& part = storage_.parts()[at];
  options.k = std::max<std::size_t>(options.k, 1);
  options.filter = selected(at);
  options.mostly = options.filter != nullptr && !filtered();
  if (matching_ && allowed_.empty()) options.filter_in_cell_order = &matching_->of(at).rows_in_cell_order;
  vector::SearchResult found = part.segment->vectors()->search(request_.query, options);
  for (Scored& hit : found.hits) hit.ordinal += part.first_row;
  return found;
}

/// Returns a width that finds the first top_k as well as a dense search does. Below top_k, ranks hardly matter in the
/// fusion, and the graph search takes half of the time, so the depth is wide enough. With a filter 0, the index's own.
std::size_t Query::usual_ef(std::size_t depth) const noexcept {
  if (filtered()) return 0;
  return std::max(vector::default_ef(request_.top_k), std::min(depth, vector::kMaxEf));
}

LexicalLeg Query::lexical_leg(std::size_t depth) {
  const Stopwatch stopwatch;
  if (extended_) {
    std::vector<Scored> hits = extended_->search(depth);
    return {std::move(hits), extended_->tokens(), extended_->terms(), extended_->scored(), stopwatch.ms()};
  }
  LexicalLeg leg;
  const text::TextQuery& query = words();
  text::TextSearchPlan plan;
  std::vector<const Bitmap*> filters;
  for (std::size_t part = 0; part < storage_.parts().size(); ++part) filters.push_back(selected(part));
  leg.hits = query.search(depth, filters, request_.work.cancel, plan);
  for (const text::QueryTerm& term : query.terms()) {
    leg.tokens += term.occurrences;
    leg.terms += term.documents > 0 ? 1 : 0;
  }
  leg.scored = static_cast<std::size_t>(plan.documents_scored);
  leg.ms = stopwatch.ms();
  return leg;
}

void Query::score_words(Ordinals ordinals, Scores scores) {
  if (extended_) return extended_->score(ordinals, scores);
  words().score(ordinals, scores);
}

const text::TextQuery& Query::words() {
  if (!words_) words_.emplace(storage_.words(), request_.text, request_.work.cancel);
  return *words_;
}

const text::TextQuery& Query::plain_words() {
  if (!extended_ || !request_.lexical->query.syntax) return words();
  if (!plain_words_) {
    plain_words_.emplace(storage_.words(), text::plain_text(request_.text), request_.work.cancel);
  }
  return *plain_words_;
}

}  // namespace lorekeep::store
