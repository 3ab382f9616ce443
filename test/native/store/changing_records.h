// The slow twin of store::LiveStorage: a list of records, from which a storage is built anew.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "store/live_storage.h"

namespace lorekeep::store {

struct Record {
  std::string id;
  std::string text;
  std::vector<float> vector;
  std::optional<std::int64_t> year;
  std::string title;
};

/// A batch in the open.
struct Script {
  std::vector<Record> add = {};
  std::vector<Record> replace = {};
  std::vector<std::string> remove = {};
  bool upsert = false;
};

class ChangingRecords {
 public:
  ChangingRecords(std::size_t dimension, text::Tokenizer tokenizer, vector::VectorType type);

  /// Fields: `year` (int, optional) and `title` (string).
  const std::shared_ptr<const filter::Schema>& schema() const noexcept { return schema_; }
  const std::vector<Record>& records() const noexcept { return records_; }
  std::size_t dimension() const noexcept { return dimension_; }
  bool has(const std::string& id) const;

  Record random_record(std::string id, std::mt19937_64& random) const;
  /// Returns a batch that can be applied, with ids of a pool of `ids`.
  Script random_script(std::size_t ids, std::size_t most, std::mt19937_64& random) const;
  void apply(const Script& script);
  Changes changes(const Script& script) const;
  /// A storage of the records as they are. `graph`: with an HNSW index. Precondition: there are records.
  std::shared_ptr<const Storage> build(bool graph = false) const;

 private:
  StorageParts parts_of(const std::vector<Record>& records, bool graph) const;
  std::shared_ptr<const filter::Columns> columns_of(const std::vector<Record>& records) const;

  std::size_t dimension_;
  text::Tokenizer tokenizer_;
  vector::VectorType type_;
  std::shared_ptr<const filter::Schema> schema_;
  std::vector<Record> records_;
};

}  // namespace lorekeep::store
