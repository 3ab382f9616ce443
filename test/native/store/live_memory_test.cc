// Memory that runs out in the middle of a merge, a batch or a removal: the last good version stays.
#include <cstdlib>
#include <new>
#include <random>

#include "aligned_memory.h"
#include "changing_records.h"
#include "harness.h"
#include "store/live_storage.h"

namespace {

/// Number of the allocation of this thread that fails, from now on; 0: none does.
thread_local std::size_t failing = 0;
thread_local std::size_t allocations = 0;

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (++allocations == failing) return nullptr;
  const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  return alignment <= alignof(std::max_align_t) ? std::malloc(rounded)
                                                : lorekeep::test::aligned_memory(alignment, rounded);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* const memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  return allocate_or_throw(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  lorekeep::test::free_aligned(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  lorekeep::test::free_aligned(memory);
}

[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  lorekeep::test::free_aligned(memory);
}

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

/// Calls `body` with its n-th allocation failing. Returns whether it ended in a lack of memory.
template <class Body>
bool lacks_memory(std::size_t n, Body&& body) {
  allocations = 0;
  failing = n;
  try {
    body();
  } catch (const std::bad_alloc&) {
    failing = 0;
    return true;
  } catch (const Error& error) {
    failing = 0;
    if (error.code() != Code::kOutOfMemory) throw;
    return true;
  } catch (...) {
    failing = 0;
    throw;
  }
  failing = 0;
  return false;
}

std::string content(const Storage& storage) {
  std::string all;
  for (std::uint32_t i = 0; i < storage.size(); ++i) {
    all += std::string(storage.id(i)) + '\t' + std::string(storage.text(i)) + '\n';
  }
  return all;
}

SearchResult search(const Storage& storage, const std::vector<float>& query) {
  SearchRequest request;
  request.mode = Mode::kHybrid;
  request.query = query;
  request.text = "w1 w2 rare3";
  request.top_k = 20;
  return storage.search(request);
}

std::vector<double> scores(const SearchResult& found) {
  std::vector<double> all;
  for (const Hit& hit : found.hits) {
    all.push_back(hit.ordinal);
    all.push_back(hit.score);
  }
  return all;
}

struct Scene {
  ChangingRecords twin;
  LiveStorage live;
  std::vector<float> query;

  /// A storage with two parts and removed records, so that a merge of all has something to do.
  static Scene make(std::size_t records, std::size_t dimension, std::mt19937_64& random) {
    ChangingRecords twin(dimension, text::Tokenizer::kEnhanced, vector::VectorType::kF32);
    Script first;
    for (std::size_t i = 0; i < records; ++i) first.add.push_back(twin.random_record("id" + std::to_string(i), random));
    twin.apply(first);
    auto storage = twin.build(records >= kMinGraphRows);
    return {std::move(twin), std::move(storage), random};
  }

  Script script(std::size_t size, std::mt19937_64& random) const {
    Script next;
    for (std::size_t i = 0; i < size; ++i) {
      next.replace.push_back(twin.random_record(twin.records()[i * 3].id, random));
      next.remove.push_back(twin.records()[i * 3 + 1].id);
      next.add.push_back(twin.random_record("new" + std::to_string(i), random));
    }
    return next;
  }

 private:
  Scene(ChangingRecords records, std::shared_ptr<const Storage> storage, std::mt19937_64& random)
      : twin(std::move(records)), live(std::move(storage)) {
    query.resize(twin.dimension());
    for (float& value : query) value = static_cast<float>(random() % 100) - 50;
  }
};

/// Lets every allocation of `change` fail, or one of `step`, until one attempt succeeds. After each failure the storage
/// is what it was.
template <class Change>
std::size_t fail_everywhere(LiveStorage& live, const std::vector<float>& query, std::size_t step, Change&& change) {
  const std::string before = content(*live.current());
  const std::vector<double> found = scores(search(*live.current(), query));
  const std::uint64_t version = live.current()->version();
  std::size_t failures = 0;
  for (std::size_t n = 1; lacks_memory(n, change); n += step) {
    ++failures;
    REQUIRE(live.current()->version() == version);
    REQUIRE(content(*live.current()) == before);
    if (failures % 16 == 0) CHECK(scores(search(*live.current(), query)) == found);
  }
  return failures;
}

TEST("a batch that runs out of memory anywhere changes nothing, and is applied when there is memory again") {
  std::mt19937_64 random(test::seed());
  Scene scene = Scene::make(90, 4, random);
  const Script script = scene.script(20, random);
  const std::size_t failures = fail_everywhere(scene.live, scene.query, 1, [&] {
    const std::size_t armed = std::exchange(failing, 0);
    Changes changes = scene.twin.changes(script);
    allocations = 0;
    failing = armed;
    scene.live.update(std::move(changes), {});
  });
  CHECK(failures > 20);
  scene.twin.apply(script);
  CHECK_EQ(content(*scene.live.current()), content(*scene.twin.build()));
}

void fail_merges(std::size_t records, std::size_t dimension, std::size_t changed, std::size_t step) {
  std::mt19937_64 random(test::seed());
  Scene scene = Scene::make(records, dimension, random);
  const Script script = scene.script(changed, random);
  scene.live.update(scene.twin.changes(script), {});
  scene.twin.apply(script);
  REQUIRE(scene.live.merging().parts > 1);
  const std::vector<double> before = scores(search(*scene.live.current(), scene.query));
  const std::size_t failures =
      fail_everywhere(scene.live, scene.query, step, [&] { CHECK(scene.live.merge(true, {})); });
  CHECK(failures > 5);
  CHECK_EQ(scene.live.merging().parts, std::size_t{1});
  CHECK_EQ(content(*scene.live.current()), content(*scene.twin.build()));
  if (records < kMinGraphRows) CHECK(scores(search(*scene.live.current(), scene.query)) == before);
}

TEST("a merge that runs out of memory anywhere leaves the version that is there, and batches go on") {
  fail_merges(400, 8, 40, 1);
}

TEST("so does a merge that builds a graph") {
  fail_merges(kMinGraphRows + 300, 16, 60, test::repetitions(9000, 500));
}

TEST("records that were not forgotten for a lack of memory are forgotten by the next call") {
  std::mt19937_64 random(test::seed());
  Scene scene = Scene::make(120, 4, random);
  const std::vector<std::string> ids{"id5", "id77"};
  std::size_t failures = 0;
  for (std::size_t n = 1; lacks_memory(n, [&] { scene.live.forget(ids, true, {}); }); ++n) {
    ++failures;
  }
  CHECK(failures > 10);
  scene.twin.apply({.remove = ids});
  CHECK_EQ(content(*scene.live.current()), content(*scene.twin.build()));
  for (const Part& part : scene.live.current()->parts()) CHECK(!part.segment->find("id5"));
}

}  // namespace
