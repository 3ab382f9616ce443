#include "harness.h"
#include "scheduler/scheduler.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;
using enum ConsumerClass;

Request queued(RequestId id, ConsumerClass consumer_class, double arrived_ms) {
  Request request;
  request.id = id;
  request.consumer_class = consumer_class;
  request.arrived_ms = arrived_ms;
  request.prompt_left = 10;
  request.admitted = false;
  return request;
}

TEST("requests are admitted by class, then by age") {
  const Scheduler scheduler;
  std::vector<Request> all = {queued(1, kBackground, 0), queued(2, kInteractiveBuffered, 1),
                              queued(3, kInteractiveVisible, 3), queued(4, kInteractiveVisible, 2)};
  std::vector<RequestId> order;
  while (const auto next = scheduler.next_to_admit(all, 10)) {
    order.push_back(all[*next].id);
    all[*next].admitted = true;
  }
  CHECK(order == (std::vector<RequestId>{4, 3, 2, 1}));
}

TEST("ten seconds of waiting count as a better class, so that nobody waits for ever") {
  const Scheduler scheduler;
  const std::vector<Request> all = {queued(1, kBackground, 0), queued(2, kInteractiveVisible, 25'000)};
  CHECK_EQ(*scheduler.next_to_admit(all, 25'001), 0u);
  CHECK_EQ(
      *scheduler.next_to_admit(std::vector{queued(1, kBackground, 0), queued(2, kInteractiveVisible, 9'000)}, 9'001),
      1u);
}

TEST("without the scheduler, the oldest is admitted") {
  Scheduler scheduler;
  Settings settings;
  settings.enabled = false;
  scheduler.configure(settings);
  const std::vector<Request> all = {queued(2, kInteractiveVisible, 5), queued(1, kBackground, 1)};
  CHECK_EQ(*scheduler.next_to_admit(all, 10), 1u);
}

}  // namespace
