// One copy of the packed weights of a file, for as long as a model has it.
#include "lm/model/shared_decoder.h"

#include "gguf_bytes.h"
#include "harness.h"

using namespace lorekeep;
using namespace lorekeep::engine;
using lorekeep::test::TemporaryFile;

TEST("shared decoder: loads of one file share the weights, which go with the last of them") {
  const TemporaryFile temporary(test::small_decoder("llama").bytes());
  const GgufFile file(temporary.path());
  const DecoderPlan plan = plan_decoder(file);
  REQUIRE(plan.suited());
  auto first = lm::shared_decoder("a", file, plan, nullptr);
  auto second = lm::shared_decoder("a", file, plan, nullptr);
  CHECK(first == second);
  CHECK(first != lm::shared_decoder("b", file, plan, nullptr));
  const std::weak_ptr<const decoder::DecoderWeights> weights = first;
  first.reset();
  CHECK(!weights.expired());
  second.reset();
  CHECK(weights.expired());
  CHECK(lm::shared_decoder("a", file, plan, nullptr) != nullptr);
}

TEST("shared decoder: files of other sizes do not share, even with one fingerprint") {
  const TemporaryFile narrow(test::small_decoder("llama").bytes());
  const TemporaryFile long_one(test::small_decoder("llama", 8).bytes());
  const GgufFile file(narrow.path());
  const GgufFile other(long_one.path());
  const auto first = lm::shared_decoder("c", file, plan_decoder(file), nullptr);
  const auto second = lm::shared_decoder("c", other, plan_decoder(other), nullptr);
  CHECK(first != second);
  CHECK_EQ(first->shape.vocabulary + 2, second->shape.vocabulary);
}

TEST("shared decoder: a cancelled load packs nothing") {
  const TemporaryFile temporary(test::small_decoder("llama").bytes());
  const GgufFile file(temporary.path());
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, lm::shared_decoder("d", file, plan_decoder(file), &cancel));
}
