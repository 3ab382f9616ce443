// A test registry in one page: no C++ test framework is published on the npm registry, and the sources are built on
// machines that have nothing else. TEST registers, CHECK goes on after a failure, REQUIRE ends the test.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/values/error.h"

namespace lorekeep::test {

struct Case {
  const char* name;
  void (*body)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

/// Whether the long form of the tests runs (LOREKEEP_TEST_LONG): `npm run test:rest` does for tests with the label
/// `long`.
bool is_long_form();

struct Registration {
  Registration(const char* name, void (*body)(), bool runs = true) {
    if (runs) cases().push_back({name, body});
  }
};

struct Abandon {};  // thrown by REQUIRE, caught by the runner

/// Records a failed check of the running test.
void report_failure(const char* file, int line, const std::string& what);

template <class A, class B>
std::string describe(const char* expression, const A& a, const B& b) {
  std::ostringstream out;
  out << expression << "\n      left:  " << a << "\n      right: " << b;
  return out.str();
}

template <class Body>
bool throws_code(Code code, Body&& body, std::string& got) {
  try {
    body();
    got = "nothing was thrown";
    return false;
  } catch (const Error& error) {
    got = std::string(code_name(error.code())) + ": " + error.what();
    return error.code() == code;
  }
}

/// The seed of randomised tests: LOREKEEP_TEST_SEED, else a fixed one. Printed when a test fails.
unsigned long long seed();

/// Returns `usual`, or `many` in the long form of the tests.
std::size_t repetitions(std::size_t usual, std::size_t many);

}  // namespace lorekeep::test

#define LK_JOIN2(a, b) a##b
#define LK_JOIN(a, b) LK_JOIN2(a, b)
// Numbered by __COUNTER__, since several files may be compiled as one.
#define TEST(name) LK_TEST(name, __COUNTER__, true)
// A test of the long form alone. Another test, of a smaller size, covers its subject in `npm test`.
#define LONG_TEST(name) LK_TEST(name, __COUNTER__, ::lorekeep::test::is_long_form())
#define LK_TEST(name, number, runs)                                                                               \
  static void LK_JOIN(lk_test_, number)();                                                                        \
  static ::lorekeep::test::Registration LK_JOIN(lk_registration_, number)(name, LK_JOIN(lk_test_, number), runs); \
  static void LK_JOIN(lk_test_, number)()
#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) ::lorekeep::test::report_failure(__FILE__, __LINE__, #condition); \
  } while (false)
#define REQUIRE(condition)                                              \
  do {                                                                  \
    if (!(condition)) {                                                 \
      ::lorekeep::test::report_failure(__FILE__, __LINE__, #condition); \
      throw ::lorekeep::test::Abandon{};                                \
    }                                                                   \
  } while (false)
#define CHECK_EQ(a, b)                                                                                            \
  do {                                                                                                            \
    const auto lk_a = (a);                                                                                        \
    const auto lk_b = (b);                                                                                        \
    if (!(lk_a == lk_b))                                                                                          \
      ::lorekeep::test::report_failure(__FILE__, __LINE__, ::lorekeep::test::describe(#a " == " #b, lk_a, lk_b)); \
  } while (false)
#define CHECK_NEAR(a, b, tolerance)                                                                              \
  do {                                                                                                           \
    const double lk_a = (a);                                                                                     \
    const double lk_b = (b);                                                                                     \
    if (!(std::abs(lk_a - lk_b) <= (tolerance)))                                                                 \
      ::lorekeep::test::report_failure(__FILE__, __LINE__, ::lorekeep::test::describe(#a " ~ " #b, lk_a, lk_b)); \
  } while (false)
/// The statement throws lorekeep::Error with exactly this code.
#define CHECK_FAILS(expected_code, statement)                                                                       \
  do {                                                                                                              \
    std::string lk_got;                                                                                             \
    if (!::lorekeep::test::throws_code(expected_code, [&] { statement; }, lk_got))                                  \
      ::lorekeep::test::report_failure(__FILE__, __LINE__, #statement " fails with " #expected_code ": " + lk_got); \
  } while (false)
