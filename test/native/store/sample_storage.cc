#include "sample_storage.h"

#include "filter/columns_builder.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"

namespace lorekeep::store {
namespace {

constexpr std::int64_t kYears = 100;

std::shared_ptr<const filter::Columns> make_metadata(const Sample& sample) {
  filter::ColumnsBuilder builder(sample.schema);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    builder.begin_record(std::to_string(i));
    builder.set_int(0, sample.years[i]);
  }
  return std::make_shared<const filter::Columns>(std::move(builder).build());
}

}  // namespace

std::string random_text(std::size_t words, std::mt19937_64& random) {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    // The square of a uniform number: some words are common, some rare.
    const std::size_t word = (random() % 40) * (random() % 40) / 20;
    text += "w" + std::to_string(word) + " ";
  }
  return text;
}

std::vector<float> random_vector(std::size_t dimension, std::mt19937_64& random) {
  std::vector<float> vector(dimension);
  for (float& value : vector) value = static_cast<float>(random() % 5) - 2.0f;
  return vector;
}

Sample make_sample(std::size_t records, std::size_t dimension, bool graph, std::mt19937_64& random) {
  Sample sample;
  sample.dimension = dimension;
  filter::Field year;
  year.name = "year";
  year.type = filter::FieldType::kInt;
  sample.schema = std::make_shared<const filter::Schema>(std::vector{year});
  StorageParts parts;
  for (std::size_t i = 0; i < records; ++i) {
    const std::vector<float> row = random_vector(dimension, random);
    sample.rows.insert(sample.rows.end(), row.begin(), row.end());
    sample.texts.push_back(random_text(1 + random() % 12, random));
    sample.years.push_back(static_cast<std::int64_t>(random() % kYears));
    parts.ids.append("id-" + std::to_string(i));
    parts.texts.append(sample.texts.back());
  }
  if (graph) {
    parts.vectors = vector::HnswIndex::build(sample.rows, dimension, {});
  } else {
    parts.vectors = vector::FlatIndex::build(sample.rows, dimension);
  }
  const std::vector<std::string_view> views(sample.texts.begin(), sample.texts.end());
  parts.text_index = text::TextIndex::build(views, {});
  parts.metadata = make_metadata(sample);
  sample.storage = std::make_shared<const Storage>(std::move(parts));
  return sample;
}

filter::BoundPredicate year_below(const Sample& sample, std::int64_t value) {
  using filter::Array;
  using filter::Object;
  const filter::Value json = Object{{"<", Array{Object{{"knowledge", "year"}}, value}}};
  return filter::Predicate::compile(json, sample.schema)->bind();
}

StorageParts bare_parts(const std::vector<std::string>& ids) {
  StorageParts parts;
  for (const std::string& id : ids) {
    parts.ids.append(id);
    parts.texts.append("text of " + id);
  }
  return parts;
}

}  // namespace lorekeep::store
