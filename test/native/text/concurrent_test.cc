#include <thread>

#include "core/threads/thread_pool.h"
#include "harness.h"
#include "sample_texts.h"
#include "scratch_folder.h"
#include "text/sidecar_file.h"

namespace lorekeep::text {
namespace {

constexpr std::size_t kThreads = 4;

template <class T>
bool same(std::span<const T> a, std::span<const T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST("an index does not depend on the number of threads that built it") {
  test::Random random(test::seed());
  const auto texts = test::random_texts(random, 3000, 12, 3000);
  ThreadPool pool(kThreads - 1);
  const auto alone = TextIndex::build(test::views(texts), {});
  for (const std::size_t workers : {2u, 4u, 9u}) {
    const auto together = TextIndex::build(test::views(texts), {.work = {&pool, workers}});
    CHECK(same(alone->data().lengths, together->data().lengths));
    CHECK(same(alone->data().buckets, together->data().buckets));
    CHECK(same(alone->data().entries, together->data().entries));
  }
}

TEST("many threads search one index, each with its own right answers") {
  test::Random random(test::seed());
  const auto texts = test::random_texts(random, 2000, 12, 2000);
  const auto index = TextIndex::build(test::views(texts), {});
  std::vector<std::string> queries;
  std::vector<std::vector<Scored>> expected;
  for (int i = 0; i < 60; ++i) {
    queries.push_back(test::random_text(random, 4, 2000));
    expected.push_back(index->search(queries.back(), {}).hits);
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < queries.size(); ++i) {
        const std::size_t q = (i + t * 7) % queries.size();
        if (index->search(queries[q], {}).hits != expected[q]) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(wrong.load(), 0);
}

TEST("several threads check one sidecar, and find what is wrong with it") {
  test::Random random(test::seed());
  const auto texts = test::random_texts(random, 1000, 12, 2000);
  const auto index = TextIndex::build(test::views(texts), {});
  const test::ScratchFolder folder;
  save_sidecar(*index, folder / "kb.bm25", 0);
  ThreadPool pool(kThreads - 1);
  const auto loaded = load_sidecar(folder / "kb.bm25", {.work = {&pool, kThreads}});
  CHECK(same(index->data().entries, loaded.index->data().entries));
  auto file = test::read_file(folder / "kb.bm25");
  file[file.size() - 5] ^= 1;
  test::write_file(folder / "kb.bm25", file);
  CHECK_FAILS(Code::kCorrupt, load_sidecar(folder / "kb.bm25", {.work = {&pool, kThreads}}));
}

TEST("a build is stopped from another thread") {
  const std::vector<std::string> texts(20000, "some words that are counted until the token is raised");
  ThreadPool pool(kThreads - 1);
  CancelToken cancel;
  std::atomic<bool> started{false};
  const auto text_of = [&](std::size_t document) -> std::string_view {
    if (document > 100) {
      started = true;
      started.notify_all();
      while (!cancel.cancelled()) std::this_thread::yield();
    }
    return texts[document];
  };
  std::thread stopper([&] {
    started.wait(false);
    cancel.cancel();
  });
  CHECK_FAILS(Code::kCancelled, TextIndex::build(texts.size(), text_of, {.work = {&pool, kThreads, &cancel}}));
  stopper.join();
}

}  // namespace
}  // namespace lorekeep::text
