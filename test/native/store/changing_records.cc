#include "changing_records.h"

#include <algorithm>
#include <set>

#include "filter/columns_builder.h"
#include "sample_storage.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"

namespace lorekeep::store {

ChangingRecords::ChangingRecords(std::size_t dimension, text::Tokenizer tokenizer, vector::VectorType type)
    : dimension_(dimension), tokenizer_(tokenizer), type_(type) {
  filter::Field year;
  year.name = "year";
  year.type = filter::FieldType::kInt;
  filter::Field title;
  title.name = "title";
  title.type = filter::FieldType::kString;
  schema_ = std::make_shared<const filter::Schema>(std::vector{year, title});
}

bool ChangingRecords::has(const std::string& id) const {
  return std::any_of(records_.begin(), records_.end(), [&](const Record& record) { return record.id == id; });
}

Record ChangingRecords::random_record(std::string id, std::mt19937_64& random) const {
  Record record;
  record.id = std::move(id);
  record.text = random_text(random() % 12, random);
  // Words that few records have, so that terms come and go.
  if (random() % 3 == 0) record.text += " rare" + std::to_string(random() % 30) + " walking\xC3\xA9";
  record.vector = random_vector(dimension_, random);
  if (random() % 5 != 0) record.year = static_cast<std::int64_t>(random() % 100);
  record.title = random_text(random() % 4, random);
  return record;
}

Script ChangingRecords::random_script(std::size_t ids, std::size_t most, std::mt19937_64& random) const {
  Script script;
  std::set<std::string> used;
  const std::size_t count = random() % (most + 1);
  const std::size_t kind = random() % 8;  // some batches only remove, so that storages become empty
  for (std::size_t i = 0; i < count; ++i) {
    const std::string id = "id" + std::to_string(random() % ids);
    if (!used.insert(id).second) continue;
    if (!has(id)) {
      if (kind != 0) script.add.push_back(random_record(id, random));
    } else if (kind == 0 || random() % 2 == 0) {
      script.remove.push_back(id);
    } else {
      script.replace.push_back(random_record(id, random));
    }
  }
  return script;
}

void ChangingRecords::apply(const Script& script) {
  std::set<std::string> gone(script.remove.begin(), script.remove.end());
  for (const Record& record : script.add) gone.insert(record.id);
  for (const Record& record : script.replace) gone.insert(record.id);
  std::erase_if(records_, [&](const Record& record) { return gone.contains(record.id); });
  records_.insert(records_.end(), script.add.begin(), script.add.end());
  records_.insert(records_.end(), script.replace.begin(), script.replace.end());
}

std::shared_ptr<const filter::Columns> ChangingRecords::columns_of(const std::vector<Record>& records) const {
  filter::ColumnsBuilder builder(schema_);
  for (const Record& record : records) {
    builder.begin_record(record.id);
    if (record.year) builder.set_int(0, *record.year);
    builder.set_string(1, record.title);
  }
  return std::make_shared<const filter::Columns>(std::move(builder).build());
}

StorageParts ChangingRecords::parts_of(const std::vector<Record>& records, bool graph) const {
  StorageParts parts;
  std::vector<float> rows;
  for (const Record& record : records) {
    parts.ids.append(record.id);
    parts.texts.append(record.text);
    rows.insert(rows.end(), record.vector.begin(), record.vector.end());
  }
  if (graph) {
    vector::HnswParams params;
    params.type = type_;
    parts.vectors = vector::HnswIndex::build(rows, dimension_, params);
  } else {
    parts.vectors = vector::FlatIndex::build(rows, dimension_, type_);
  }
  parts.text_index = text::TextIndex::build(
      records.size(), [&](std::size_t record) { return std::string_view(records[record].text); }, {tokenizer_});
  parts.metadata = columns_of(records);
  return parts;
}

std::shared_ptr<const Storage> ChangingRecords::build(bool graph) const {
  return std::make_shared<const Storage>(parts_of(records_, graph));
}

Changes ChangingRecords::changes(const Script& script) const {
  Changes changes;
  std::vector<Record> records = script.add;
  records.insert(records.end(), script.replace.begin(), script.replace.end());
  for (const Record& record : records) {
    changes.ids.append(record.id);
    changes.texts.append(record.text);
    changes.rows.insert(changes.rows.end(), record.vector.begin(), record.vector.end());
  }
  changes.metadata = columns_of(records);
  changes.added = script.add.size();
  changes.removed = script.remove;
  changes.upsert = script.upsert;
  return changes;
}

}  // namespace lorekeep::store
