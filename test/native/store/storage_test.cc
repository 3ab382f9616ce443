#include "store/storage.h"

#include "harness.h"
#include "sample_storage.h"
#include "vector/flat_index.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

std::string message_of(StorageParts parts) {
  try {
    Storage storage(std::move(parts));
  } catch (const Error& error) {
    CHECK(error.code() == Code::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

TEST("a storage gives back its records by ordinal") {
  const Storage storage(bare_parts({"a", "b", "\xC3\xA9"}));
  CHECK_EQ(storage.size(), 3u);
  CHECK_EQ(storage.id(2), std::string_view("\xC3\xA9"));
  CHECK_EQ(storage.text(1), std::string_view("text of b"));
  CHECK(storage.vectors() == nullptr && storage.text_index() == nullptr && storage.metadata() == nullptr);
  CHECK(storage.memory_bytes() > 0);
}

TEST("a storage without records is refused") {
  CHECK_EQ(message_of({}), std::string("a storage needs at least one record"));
}

TEST("ids are unique and not empty") {
  CHECK_EQ(message_of(bare_parts({"a", "b", "c", "b"})), std::string("ids: records 1 and 3 have the same id \"b\""));
  CHECK_EQ(message_of(bare_parts({"a", ""})), std::string("ids: record 1 has an empty id"));
  std::vector<std::string> many;
  for (int i = 0; i < 5000; ++i) many.push_back(std::to_string(i));
  CHECK_EQ(message_of(bare_parts(many)), std::string("no error"));
  many.push_back("4321");
  CHECK_EQ(message_of(bare_parts(many)), std::string("ids: records 4321 and 5000 have the same id \"4321\""));
}

TEST("every part covers every record") {
  StorageParts fewer_texts = bare_parts({"a", "b"});
  fewer_texts.texts = TextArena();
  fewer_texts.texts.append("only one");
  CHECK_EQ(message_of(std::move(fewer_texts)), std::string("texts: 1 for 2 records"));
  StorageParts more_vectors = bare_parts({"a", "b"});
  more_vectors.vectors = vector::FlatIndex::build(std::vector<float>(6, 1.0f), 2);
  CHECK_EQ(message_of(std::move(more_vectors)), std::string("vectors: 3 for 2 records"));
  StorageParts fewer_words = bare_parts({"a", "b"});
  fewer_words.text_index = text::TextIndex::build(std::vector<std::string_view>{"one"}, {});
  CHECK_EQ(message_of(std::move(fewer_words)), std::string("text index: 1 for 2 records"));
  StorageParts no_metadata = bare_parts({"a", "b"});
  no_metadata.metadata = std::make_shared<const filter::Columns>(std::make_shared<const filter::Schema>(), 0,
                                                                 std::vector<filter::Column>{});
  CHECK_EQ(message_of(std::move(no_metadata)), std::string("metadata: 0 for 2 records"));
}

}  // namespace
