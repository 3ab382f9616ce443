#include "text/stemmed_prefixes.h"

#include <utility>

namespace lorekeep::text {
namespace {

template <class Visit>
void for_each_stemmed_union(std::span<const QueryClause> clauses, Visit&& visit) {
  for (const QueryClause& clause : clauses) {
    if (clause.sign == Clause::Sign::kExcluded && !clause.phrase.empty()) continue;
    for (const TermUnion& any : clause.unions) {
      if (!any.stems.empty()) visit(any);
    }
  }
}

}  // namespace

StemmedPrefixes::StemmedPrefixes(std::span<const QueryClause> clauses) {
  std::vector<std::string> prefixes;
  for_each_stemmed_union(clauses, [&](const TermUnion& any) { prefixes.push_back(any.beginning); });
  prefixes_ = PrefixSet(std::move(prefixes));
  stems_.resize(prefixes_.size());
  for_each_stemmed_union(clauses, [&](const TermUnion& any) {
    stems_[prefixes_.position_of(any.beginning)] = &any.stems;
    for (const std::string& stem : any.stems) all_stems_.add(stem);
  });
}

}  // namespace lorekeep::text
