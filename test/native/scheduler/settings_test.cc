// The table of SPEC 2.6: quanta, clamping, contention scaling, its floor, pauses, absent blocks and fields.
#include "scheduler/settings.h"

#include <cmath>

#include "harness.h"
#include "scheduler/thread_reason.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;
using enum ConsumerClass;

constexpr std::uint32_t kBatch = 512;

TEST("the number of threads has a reason") {
  const auto reason = [](std::uint32_t throttled, std::uint32_t started, std::uint32_t used, bool trial = false) {
    return thread_reason({.options = 8, .throttled = throttled, .started = started}, used, trial);
  };
  CHECK(reason(8, 8, 8) == ThreadReason::kAll);
  CHECK(reason(4, 8, 4) == ThreadReason::kThrottle);
  CHECK(reason(8, 4, 4) == ThreadReason::kRefused);
  CHECK(reason(4, 8, 2) == ThreadReason::kNeighbours);
  CHECK(reason(8, 8, 4, true) == ThreadReason::kTrial);
}

TEST("the defaults are the contract's") {
  const Settings settings = complete({});
  CHECK(settings.enabled);
  CHECK(settings.prefill_yield_enabled);
  CHECK(!settings.step_target_ms);
  const PerClass<ClassSettings> expected = {{{256, true, 10}, {512, false, 50}, {128, true, 50}}};
  for (std::size_t i = 0; i < kConsumerClasses; ++i) {
    CHECK_EQ(settings.classes[i].prefill_quantum_tokens, expected[i].prefill_quantum_tokens);
    CHECK_EQ(settings.classes[i].contention_scaling, expected[i].contention_scaling);
    CHECK_EQ(settings.classes[i].max_pause_ms, expected[i].max_pause_ms);
  }
}

TEST("a chunk is the class's quantum, divided among competing prompts down to 64 tokens") {
  const Settings settings;
  struct Row {
    std::uint32_t competing;
    PerClass<std::uint32_t> tokens;
  };
  for (const Row& row : {Row{1, {256, 512, 128}}, Row{2, {128, 512, 64}}, Row{3, {85, 512, 64}}, Row{4, {64, 512, 64}},
                         Row{5, {64, 512, 64}}, Row{1000, {64, 512, 64}}}) {
    for (std::size_t i = 0; i < kConsumerClasses; ++i) {
      CHECK_EQ(chunk_tokens(settings, static_cast<ConsumerClass>(i), row.competing, kBatch), row.tokens[i]);
    }
  }
}

TEST("n_batch limits every chunk, and also the floor of contention scaling") {
  const Settings settings;
  CHECK_EQ(chunk_tokens(settings, kInteractiveBuffered, 1, 100), 100u);
  CHECK_EQ(chunk_tokens(settings, kInteractiveVisible, 2, 100), 64u);
  CHECK_EQ(chunk_tokens(settings, kInteractiveVisible, 2, 200), 100u);
  CHECK_EQ(chunk_tokens(settings, kInteractiveVisible, 9, 32), 32u);
  CHECK_EQ(chunk_tokens(settings, kBackground, 9, 1), 1u);
}

TEST("a quantum below 64 tokens is its own floor") {
  SettingsInput input;
  input.classes[index_of(kInteractiveVisible)] = {
      .prefill_quantum_tokens = 40, .contention_scaling = {}, .max_pause_ms = {}};
  CHECK_EQ(chunk_tokens(complete(input), kInteractiveVisible, 1, kBatch), 40u);
  CHECK_EQ(chunk_tokens(complete(input), kInteractiveVisible, 7, kBatch), 40u);
}

TEST("a throttle takes threads away, down to a quarter, and leaves one") {
  const Settings settings;
  const double levels[] = {0, 0.25, 0.5, 0.75, 1};
  const std::uint32_t expected[][5] = {{1, 1, 1, 1, 1}, {2, 2, 1, 1, 1}, {4, 3, 3, 2, 1}, {16, 13, 10, 7, 4}};
  for (const auto& row : expected) {
    for (std::size_t i = 0; i < 5; ++i) CHECK_EQ(threads_at(settings, row[0], levels[i]), row[i]);
  }
  SettingsInput off;
  off.enabled = false;
  CHECK_EQ(threads_at(complete(off), 16, 1), 16u);
}

TEST("beside interactive requests, other models use half of their threads") {
  const Settings settings = complete({});
  CHECK_EQ(threads_beside(settings, 8, {}, 0), 8u);
  CHECK_EQ(threads_beside(settings, 8, {false, false, true}, 0), 8u);
  CHECK_EQ(threads_beside(settings, 8, {true, false, false}, 0), 4u);
  CHECK_EQ(threads_beside(settings, 8, {false, true, false}, 0), 4u);
  CHECK_EQ(threads_beside(settings, 8, {true, false, false}, 1), 2u);
  CHECK_EQ(threads_beside(settings, 1, {true, false, false}, 0), 1u);
  SettingsInput off;
  off.enabled = false;
  CHECK_EQ(threads_beside(complete(off), 8, {true, true, true}, 1), 8u);
}

TEST("an absent block has its defaults, and so have absent fields of a block") {
  SettingsInput input;
  input.classes[index_of(kBackground)] = {
      .prefill_quantum_tokens = {}, .contention_scaling = false, .max_pause_ms = {}};
  const Settings settings = complete(input);
  CHECK_EQ(settings.of(kBackground).prefill_quantum_tokens, 128u);
  CHECK_EQ(settings.of(kBackground).contention_scaling, false);
  CHECK_EQ(settings.of(kBackground).max_pause_ms, 50.0);
  CHECK_EQ(settings.of(kInteractiveVisible).prefill_quantum_tokens, 256u);
  CHECK_EQ(settings.of(kInteractiveBuffered).prefill_quantum_tokens, 512u);
}

TEST("the legacy quantum applies to every class, unless a class has a block") {
  SettingsInput input;
  input.prefill_quantum_tokens = 300;
  for (std::size_t i = 0; i < kConsumerClasses; ++i) CHECK_EQ(complete(input).classes[i].prefill_quantum_tokens, 300u);
  CHECK(complete(input).of(kInteractiveVisible).contention_scaling);
  CHECK_EQ(chunk_tokens(complete(input), kBackground, 2, kBatch), 150u);
  input.classes[index_of(kInteractiveVisible)] = ClassInput{};
  const PerClass<std::uint32_t> defaults = {256, 512, 128};
  for (std::size_t i = 0; i < kConsumerClasses; ++i)
    CHECK_EQ(complete(input).classes[i].prefill_quantum_tokens, defaults[i]);
}

TEST("without the scheduler or without yielding, a chunk is a whole batch") {
  for (const bool enabled : {false, true}) {
    SettingsInput input;
    input.enabled = enabled;
    input.prefill_yield_enabled = false;
    for (std::size_t i = 0; i < kConsumerClasses; ++i) {
      CHECK_EQ(chunk_tokens(complete(input), static_cast<ConsumerClass>(i), 9, 777), 777u);
    }
  }
}

TEST("a pause is the throttle level times the shortest max_pause_ms of the step") {
  const Settings settings;
  CHECK_NEAR(pause_ms(settings, {false, true, false}, 0.3), 15, 1e-9);
  CHECK_NEAR(pause_ms(settings, {false, false, true}, 0.3), 15, 1e-9);
  CHECK_NEAR(pause_ms(settings, {true, true, true}, 0.3), 3, 1e-9);
  CHECK_EQ(pause_ms(settings, {false, true, true}, 1), 50.0);
  CHECK_EQ(pause_ms(settings, {true, false, false}, 0), 0.0);
  CHECK_EQ(pause_ms(settings, {true, false, false}, 7), 10.0);
  CHECK_EQ(pause_ms(settings, {false, false, false}, 1), 0.0);
  Settings disabled;
  disabled.enabled = false;
  CHECK_EQ(pause_ms(disabled, {false, true, false}, 1), 0.0);
}

TEST("background work of other threads leaves interactive requests their shares, and pauses as a step does") {
  const Settings settings;
  const auto share = [&](ConsumerClass consumer_class, PerClass<bool> active) {
    return rest_after(settings, consumer_class, 10, active, 0).share_ms;
  };
  CHECK_NEAR(share(ConsumerClass::kBackground, {true, false, false}), 80, 1e-9);
  CHECK_NEAR(share(ConsumerClass::kBackground, {true, true, true}), 120, 1e-9);
  CHECK_EQ(share(ConsumerClass::kBackground, {false, false, true}), 0.0);
  CHECK_EQ(share(ConsumerClass::kInteractiveVisible, {true, true, true}), 0.0);
  CHECK_NEAR(rest_after(settings, ConsumerClass::kBackground, 10, {}, 0.3).throttle_ms, 15, 1e-9);
  CHECK_NEAR(rest_after(settings, ConsumerClass::kInteractiveVisible, 10, {}, 0.3).throttle_ms, 3, 1e-9);
  Settings disabled;
  disabled.enabled = false;
  const Rest none = rest_after(disabled, ConsumerClass::kBackground, 10, {true, true, true}, 1);
  CHECK_EQ(none.throttle_ms + none.share_ms, 0.0);
}

TEST("a quantum of 0 and a pause or target below 0 are refused by name") {
  SettingsInput none;
  none.prefill_quantum_tokens = 0;
  CHECK_FAILS(Code::kInvalidArgument, complete(none));
  SettingsInput block;
  block.classes[0] = {.prefill_quantum_tokens = 0, .contention_scaling = {}, .max_pause_ms = {}};
  CHECK_FAILS(Code::kInvalidArgument, complete(block));
  SettingsInput pause;
  pause.classes[1] = {.prefill_quantum_tokens = {}, .contention_scaling = {}, .max_pause_ms = -1};
  CHECK_FAILS(Code::kInvalidArgument, complete(pause));
  SettingsInput target;
  target.step_target_ms = std::nan("");
  CHECK_FAILS(Code::kInvalidArgument, complete(target));
}

}  // namespace
