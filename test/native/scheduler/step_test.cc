// What one step holds, by settings, classes and the state of the requests.
#include <tuple>

#include "harness.h"
#include "scheduler/scheduler.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;
using enum ConsumerClass;

constexpr ModelId kModel = 1;

Request prompt(RequestId id, ConsumerClass consumer_class, std::uint32_t left, ModelId model = kModel) {
  Request request;
  request.id = id;
  request.model = model;
  request.consumer_class = consumer_class;
  request.arrived_ms = static_cast<double>(id);
  request.prompt_left = left;
  return request;
}

Request stream(RequestId id, ConsumerClass consumer_class, ModelId model = kModel) {
  return prompt(id, consumer_class, 0, model);
}

Scheduler scheduler_with(const SettingsInput& input, ModelLimits limits = {}) {
  Scheduler scheduler;
  scheduler.configure(complete(input));
  scheduler.set_model(kModel, limits);
  return scheduler;
}

/// Without the step target, as the contract's table has it.
Scheduler plain_scheduler(ModelLimits limits = {}) {
  SettingsInput input;
  input.step_target_ms = 0;
  return scheduler_with(input, limits);
}

/// The tokens of a request's prompt in a step; 0 if it has none.
std::uint32_t tokens_of(const Step& step, RequestId id) {
  for (const Prefill& prefill : step.prefills) {
    if (prefill.id == id) return prefill.tokens;
  }
  return 0;
}

bool decodes(const Step& step, RequestId id) {
  return std::find(step.decodes.begin(), step.decodes.end(), id) != step.decodes.end();
}

/// Teaches that a decode takes `decode_ms` and each token of a prompt `token_ms`.
void teach(Scheduler& scheduler, double decode_ms, double token_ms, ModelId model = kModel) {
  for (int i = 0; i < 60; ++i) {
    Step decode{model, {1}, {}, {1, 0, 0}, {}};
    scheduler.finish(decode, decode_ms);
    Step chunk{model, {}, {{1, 64}}, {}, {64, 0, 0}};
    scheduler.finish(chunk, 64 * token_ms);
  }
}

TEST("a prompt gets its class's chunk, beside every stream") {
  Scheduler scheduler = plain_scheduler();
  const std::vector<Request> requests = {stream(1, kInteractiveVisible), prompt(2, kInteractiveVisible, 4000)};
  const Step step = scheduler.plan(requests, 0);
  CHECK(decodes(step, 1));
  CHECK_EQ(tokens_of(step, 2), 256u);
}

TEST("competing prompts shrink each other's chunks, queued ones as well, prompts on other models not") {
  for (const bool queued : {false, true}) {
    Scheduler scheduler = plain_scheduler();
    scheduler.set_model(7, {});
    std::vector<Request> requests = {prompt(1, kInteractiveVisible, 4000), prompt(2, kInteractiveVisible, 4000),
                                     prompt(3, kBackground, 4000, 7)};
    requests[1].admitted = !queued;
    const Step step = scheduler.plan(requests, 0);
    CHECK_EQ(tokens_of(step, 1), 128u);
    CHECK_EQ(tokens_of(step, 2), queued ? 0u : 128u);
  }
}

TEST("no chunk leaves a single token for the next one") {
  Scheduler scheduler = plain_scheduler();
  CHECK_EQ(tokens_of(scheduler.plan(std::vector{prompt(1, kInteractiveVisible, 257)}, 0), 1), 255u);
  Scheduler whole = scheduler_with([] {
    SettingsInput input;
    input.prefill_yield_enabled = false;
    return input;
  }());
  CHECK_EQ(tokens_of(whole.plan(std::vector{prompt(1, kInteractiveVisible, 513)}, 0), 1), 511u);
}

TEST("without yielding, a prompt fills batches until it is finished, beside the streams") {
  SettingsInput input;
  input.prefill_yield_enabled = false;
  Scheduler scheduler = scheduler_with(input);
  teach(scheduler, 10, 2);
  std::vector<Request> requests = {stream(1, kInteractiveVisible), prompt(2, kInteractiveVisible, 1200),
                                   prompt(3, kInteractiveVisible, 1200)};
  for (const std::uint32_t expected : {511u, 511u, 178u}) {
    const Step step = scheduler.plan(requests, 0);
    CHECK(decodes(step, 1));
    CHECK_EQ(tokens_of(step, 2), expected);
    requests[1].prompt_left -= expected;
    requests[1].position += expected;
    scheduler.finish(step, 1000);
  }
}

TEST("without the scheduler, requests run alone from first to last in whole batches") {
  SettingsInput input;
  input.enabled = false;
  Scheduler scheduler = scheduler_with(input);
  std::vector<Request> requests = {prompt(1, kBackground, 700), prompt(2, kInteractiveVisible, 10)};
  Step step = scheduler.plan(requests, 0);
  CHECK_EQ(tokens_of(step, 1), 512u);
  CHECK_EQ(step.tokens(), 512u);
  CHECK_EQ(scheduler.pause_after(step, 1), 0.0);
  scheduler.finish(step, 100);
  requests[0] = stream(1, kBackground);
  for (int i = 0; i < 20; ++i) {
    step = scheduler.plan(requests, 0);
    CHECK(decodes(step, 1));
    CHECK_EQ(step.tokens(), 1u);
    scheduler.finish(step, 10);
  }
  step = scheduler.plan(std::vector{requests[1]}, 0);
  CHECK_EQ(tokens_of(step, 2), 10u);
}

TEST("beside a stream, a step ends within three decodes and 50 ms, or the target that is set") {
  const std::vector<Request> requests = {stream(1, kInteractiveVisible), prompt(2, kInteractiveVisible, 4000)};
  Scheduler automatic = scheduler_with({});
  teach(automatic, 10, 2);
  CHECK_EQ(tokens_of(automatic.plan(requests, 0), 2), 23u);  // seven tenths of 3 x 10 + 50, - 10 ms
  SettingsInput input;
  input.step_target_ms = 130;
  Scheduler fixed = scheduler_with(input);
  teach(fixed, 10, 2);
  CHECK_EQ(tokens_of(fixed.plan(requests, 0), 2), 40u);
  input.step_target_ms = 1;
  Scheduler tight = scheduler_with(input);
  teach(tight, 10, 2);
  CHECK_EQ(tokens_of(tight.plan(requests, 0), 2), 8u);  // a prompt always gets on
  CHECK_EQ(tight.stats().chunks_cut, 1u);
}

TEST("where a step has taken longer than expected, chunks leave room for that, and grow again") {
  const std::vector<Request> requests = {stream(1, kInteractiveVisible), prompt(2, kInteractiveVisible, 4000)};
  Scheduler scheduler = scheduler_with({});
  teach(scheduler, 10, 2);
  const auto run = [&](double late_ms) {
    const Step step = scheduler.plan(requests, 0);
    const std::uint32_t tokens = tokens_of(step, 2);
    scheduler.finish(step, 10 + 2 * tokens + late_ms);
    return tokens;
  };
  const std::uint32_t before = run(0);
  run(25);
  const std::uint32_t after = run(0);
  CHECK(10 + 2 * after + 25 <= 80);
  run(1000);
  CHECK(10 + 2 * run(0) <= 80 / 2 + 1);
  for (int i = 0; i < 600; ++i) run(0);
  CHECK_NEAR(run(0), before, 1);
}

TEST("on a device with a longest step, no step is planned to take longer, with and without streams") {
  SettingsInput input;
  input.prefill_yield_enabled = false;
  for (const SettingsInput& each : {SettingsInput{}, input}) {
    Scheduler scheduler = scheduler_with(each, {.most_step_ms = 500});
    CHECK_EQ(tokens_of(scheduler.plan(std::vector{prompt(2, kBackground, 4000)}, 0), 2), 64u);  // nothing is known
    scheduler.finish(Step{kModel, {}, {{2, 64}}, {}, {0, 0, 64}, {}}, 320);
    teach(scheduler, 100, 5);
    const Step alone = scheduler.plan(std::vector{prompt(2, kInteractiveVisible, 4000)}, 0);
    CHECK_NEAR(tokens_of(alone, 2), 70, 1);  // seven tenths of 500 ms
    scheduler.finish(alone, 350);
    std::vector<Request> streams;
    for (RequestId id = 1; id <= 40; ++id) streams.push_back(stream(id, kInteractiveVisible));
    const Step decode = scheduler.plan(streams, 0);  // each adds 100 ms, as far as is known
    CHECK_EQ(decode.decodes.size(), 5u);
    scheduler.finish(decode, 500);
    CHECK(scheduler.plan(streams, 0).decodes != decode.decodes);
  }
}

TEST("while a context deepens, steps stay within the limit") {
  Scheduler scheduler = scheduler_with({});
  teach(scheduler, 10, 1);
  std::vector<Request> requests = {stream(1, kInteractiveVisible), prompt(2, kInteractiveVisible, 4000)};
  const double limit = 3 * 10 + 50;
  while (requests[1].prompt_left > 100) {
    const Step step = scheduler.plan(requests, 0);
    const std::uint32_t tokens = tokens_of(step, 2);
    const double took = 10 + tokens * (1 + requests[1].position / 1000.0);  // five times as long at the end
    CHECK(took <= limit);
    scheduler.finish(step, took);
    requests[1].prompt_left -= tokens;
    requests[1].position += tokens;
  }
}

TEST("an aborted step teaches nothing and counts no tokens") {
  const std::vector<Request> requests = {stream(1, kInteractiveVisible), prompt(2, kInteractiveVisible, 4000)};
  Scheduler scheduler = scheduler_with({});
  teach(scheduler, 10, 2);
  const std::uint64_t tokens = scheduler.stats().prefill_tokens[0];
  for (int i = 0; i < 20; ++i) scheduler.finish(scheduler.plan(requests, 0), 1, true);
  CHECK_EQ(tokens_of(scheduler.plan(requests, 0), 2), 23u);
  CHECK_EQ(scheduler.stats().prefill_tokens[0], tokens);
}

TEST("after an aborted step, replies advance before the next prompt") {
  const std::vector<Request> requests = {stream(1, kInteractiveVisible), prompt(2, kInteractiveVisible, 4000)};
  Scheduler scheduler = scheduler_with({});
  teach(scheduler, 10, 2);
  for (int i = 0; i < 5; ++i) {
    const Step mixed = scheduler.plan(requests, 0);
    CHECK_EQ(mixed.prefills.size(), 1u);
    scheduler.finish(mixed, 20, true);
    const Step alone = scheduler.plan(requests, 0);
    CHECK(alone.decodes == std::vector<RequestId>{1});
    CHECK(alone.prefills.empty());
    scheduler.finish(alone, 10);
  }
  // Without a reply there is nothing to wait for.
  scheduler.finish(scheduler.plan(requests, 0), 20, true);
  CHECK(tokens_of(scheduler.plan(std::vector{requests[1]}, 0), 2) > 0);
}

TEST("nothing limits a step beside a background stream, or without a stream") {
  for (const Request& first : {stream(1, kBackground), prompt(1, kBackground, 9)}) {
    Scheduler scheduler = scheduler_with({});
    teach(scheduler, 10, 2);
    CHECK(tokens_of(scheduler.plan(std::vector{first, prompt(2, kInteractiveBuffered, 4000)}, 0), 2) >= 448);
  }
}

TEST("a stream on another model limits the step as well") {
  Scheduler scheduler = scheduler_with({});
  scheduler.set_model(2, {});
  teach(scheduler, 10, 2, 1);
  teach(scheduler, 10, 2, 2);
  const std::vector<Request> requests = {stream(1, kInteractiveVisible, 1), prompt(2, kInteractiveVisible, 4000, 2)};
  bool seen = false;
  for (int i = 0; i < 10; ++i) {
    const Step step = scheduler.plan(requests, 0);
    seen = seen || step.model == 2;
    if (step.model == 2) CHECK_EQ(tokens_of(step, 2), 28u);
    scheduler.finish(step, step.model == 2 ? 2.0 * tokens_of(step, 2) : 10);
  }
  CHECK(seen);
}

TEST("streams on two models take turns step by step") {
  Scheduler scheduler = plain_scheduler();
  scheduler.set_model(2, {});
  const std::vector<Request> requests = {stream(1, kInteractiveVisible, 1), stream(2, kInteractiveVisible, 2)};
  ModelId last = 0;
  for (int i = 0; i < 10; ++i) {
    const Step step = scheduler.plan(requests, 0);
    CHECK(step.model != last);
    last = step.model;
    scheduler.finish(step, 10);
  }
}

TEST("a prompt waits for the older prompt that computes its beginning, and lends it its class") {
  Scheduler scheduler = plain_scheduler();
  std::vector<Request> requests = {prompt(1, kBackground, 4000), prompt(2, kInteractiveVisible, 4000),
                                   prompt(3, kInteractiveBuffered, 100)};
  requests[1].waits = PrefixWait{1, 500};
  Step step = scheduler.plan(requests, 0);
  CHECK_EQ(tokens_of(step, 1), 128u);  // interactive_visible beside one other prompt
  CHECK_EQ(tokens_of(step, 2), 0u);
  scheduler.finish(step, 100);
  requests[0].position = 500;
  CHECK(tokens_of(scheduler.plan(requests, 0), 2) > 0);
  // The leader is gone.
  requests[0].position = 0;
  CHECK(tokens_of(scheduler.plan(std::span(requests).subspan(1), 0), 2) > 0);
}

TEST("a batch full of streams leaves room for prompts, even a batch of one token") {
  for (const std::uint32_t n_batch : {1u, 2u, 3u, 20u}) {
    Scheduler scheduler = plain_scheduler({.n_batch = n_batch});
    std::vector<Request> requests;
    for (RequestId id = 1; id <= 40; ++id) requests.push_back(stream(id, kInteractiveVisible));
    requests.push_back(prompt(41, kBackground, 1000));
    requests.push_back(prompt(42, kInteractiveVisible, 1000));
    std::uint32_t prompts = 0;
    std::uint32_t decoded = 0;
    for (int i = 0; i < 100; ++i) {
      const Step step = scheduler.plan(requests, 0);
      CHECK(step.tokens() <= n_batch);
      prompts += tokens_of(step, 42);
      decoded += static_cast<std::uint32_t>(step.decodes.size());
      scheduler.finish(step, 10);
    }
    CHECK(prompts >= 10);
    CHECK(decoded >= 10);
  }
}

TEST("on a grid, chunks end at its borders whatever else runs") {
  Scheduler scheduler = scheduler_with({}, {.chunk_grid = 64});
  teach(scheduler, 10, 2);
  std::vector<Request> requests = {stream(1, kInteractiveVisible), prompt(2, kBackground, 1000),
                                   prompt(3, kInteractiveVisible, 1000)};
  requests[1].position = 30;
  requests[2].position = 128;
  bool background = false;
  for (int i = 0; i < 20; ++i) {
    const Step step = scheduler.plan(requests, 0);
    CHECK(tokens_of(step, 3) == 0 || tokens_of(step, 3) == 64);
    CHECK(tokens_of(step, 2) == 0 || tokens_of(step, 2) == 34);
    background = background || tokens_of(step, 2) > 0;
    scheduler.finish(step, 10);
  }
  CHECK(background);
}

TEST("the embedding of a query waits for one step at most, also without the scheduler") {
  for (const bool enabled : {true, false}) {
    SettingsInput input;
    input.enabled = enabled;
    Scheduler scheduler = scheduler_with(input);
    scheduler.set_model(2, {.whole_prompts = true});
    std::vector<Request> requests = {stream(1, kInteractiveVisible)};
    RequestId id = 2;
    for (int i = 0; i < 50; ++i) {
      scheduler.finish(scheduler.plan(requests, 0), 10);
      requests.push_back(prompt(++id, kInteractiveVisible, 300, 2));
      const Step step = scheduler.plan(requests, 0);
      CHECK_EQ(tokens_of(step, id), 300u);
      scheduler.finish(step, 500);  // a dear one, so that its model is far ahead in time
      requests.pop_back();
    }
  }
}

TEST("texts of a bulk embedding share a step within their class's quantum") {
  Scheduler scheduler = plain_scheduler();
  scheduler.set_model(2, {.whole_prompts = true});
  std::vector<Request> requests;
  for (RequestId id = 1; id <= 10; ++id) requests.push_back(prompt(id, kBackground, 30, 2));
  CHECK_EQ(scheduler.plan(requests, 0).tokens(), 60u);  // 128 / 10 competing texts: the floor of 64
  requests.push_back(prompt(11, kBackground, 600, 2));
  CHECK_EQ(scheduler.plan(std::span(requests).last(1), 0).tokens(), 600u);
}

TEST("nothing to do is an empty step") {
  Scheduler scheduler = plain_scheduler();
  CHECK(scheduler.plan({}, 0).empty());
  std::vector<Request> queued = {prompt(1, kBackground, 10)};
  queued[0].admitted = false;
  CHECK(scheduler.plan(queued, 0).empty());
}

TEST("the longest wait of a class is from being ready to its step") {
  Scheduler scheduler = plain_scheduler();
  std::vector<Request> requests = {stream(1, kInteractiveVisible)};
  scheduler.finish(scheduler.plan(requests, 0), 10);
  scheduler.finish(scheduler.plan(requests, 40), 10);
  CHECK_EQ(scheduler.stats().longest_wait_ms[index_of(kInteractiveVisible)], 40.0);
  requests.push_back(prompt(2, kInteractiveVisible, 100));
  requests[1].admitted = false;
  scheduler.finish(scheduler.plan(requests, 50), 10);
  requests[1].admitted = true;
  scheduler.finish(scheduler.plan(requests, 1000), 10);
  CHECK_EQ(scheduler.stats().longest_wait_ms[index_of(kInteractiveVisible)], 950.0);  // of the stream, not of the queue
}

}  // namespace
