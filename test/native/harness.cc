// Runs every registered test, or those whose name contains the first argument.
// Names the tests that took more than a second of processor time, and ends with "N passed, N failed"; exit status 1
// when a test failed or none ran.
#include "harness.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace lorekeep::test {
namespace {

int failures_of_running_test = 0;

/// Processor time of all threads, in seconds.
double processor_time() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace

void report_failure(const char* file, int line, const std::string& what) {
  ++failures_of_running_test;
  std::printf("    %s:%d: %s\n", file, line, what.c_str());
}

unsigned long long seed() {
  const char* text = std::getenv("LOREKEEP_TEST_SEED");
  return text == nullptr ? 20240229ULL : std::strtoull(text, nullptr, 10);
}

bool is_long_form() {
  return std::getenv("LOREKEEP_TEST_LONG") != nullptr;
}

std::size_t repetitions(std::size_t usual, std::size_t many) {
  return is_long_form() ? many : usual;
}

}  // namespace lorekeep::test

int main(int argc, char** argv) {
  using namespace lorekeep::test;
  const char* wanted = argc > 1 ? argv[1] : "";
  int passed = 0;
  int failed = 0;
  for (const Case& test : cases()) {
    if (std::strstr(test.name, wanted) == nullptr) continue;
    failures_of_running_test = 0;
    const double begin = processor_time();
    try {
      test.body();
    } catch (const Abandon&) {
    } catch (const std::exception& error) {
      report_failure(test.name, 0, std::string("unexpected exception: ") + error.what());
    }
    if (const double took = processor_time() - begin; took > 1) std::printf("  %5.1f s  %s\n", took, test.name);
    if (failures_of_running_test == 0) {
      ++passed;
    } else {
      ++failed;
      std::printf("  FAILED %s (LOREKEEP_TEST_SEED=%llu)\n", test.name, seed());
    }
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
