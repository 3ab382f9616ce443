// A small random storage with everything that a search may use, and the same data in the open for the twin.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "filter/predicate.h"
#include "store/storage.h"

namespace lorekeep::store {

struct Sample {
  std::size_t dimension = 0;
  std::vector<float> rows;
  std::vector<std::string> texts;
  std::vector<std::int64_t> years;  // the metadata field "year", int
  std::shared_ptr<const filter::Schema> schema;
  std::shared_ptr<const Storage> storage;

  std::size_t size() const { return texts.size(); }
};

/// Texts of few words and vectors of few distinct values, so that ties are common. `graph`: an HNSW index, else a flat
/// one.
Sample make_sample(std::size_t records, std::size_t dimension, bool graph, std::mt19937_64& random);
std::string random_text(std::size_t words, std::mt19937_64& random);
std::vector<float> random_vector(std::size_t dimension, std::mt19937_64& random);

/// `year` compared with a number: {"<": [{"knowledge": "year"}, value]}.
filter::BoundPredicate year_below(const Sample& sample, std::int64_t value);

/// Parts of a storage with these ids and texts like "text of <id>", nothing to search by.
StorageParts bare_parts(const std::vector<std::string>& ids);

}  // namespace lorekeep::store
