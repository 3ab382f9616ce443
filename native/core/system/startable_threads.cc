#include "core/system/startable_threads.h"

#include <exception>
#include <future>
#include <thread>
#include <vector>

namespace lorekeep {

std::size_t startable_threads(std::size_t most) {
  std::vector<std::thread> threads;
  threads.reserve(most);
  std::promise<void> all_started;
  const std::shared_future<void> started = all_started.get_future().share();
  try {
    while (threads.size() < most) threads.emplace_back([started] { started.wait(); });
  } catch (const std::exception&) {  // one was refused, or there is no memory for it
  }
  all_started.set_value();
  for (std::thread& thread : threads) thread.join();
  return threads.size();
}

}  // namespace lorekeep
