#include <string>

#include "fuzz_driver.h"
#include "store/json_record.h"

namespace lorekeep::store {
namespace {

test::Bytes bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string record(int i) {
  return R"({"id": "r)" + std::to_string(i) + R"(", "text": "caf\u00e9 \ud83d\ude00 \"quoted\" \\", )" +
         R"("metadata": {"year": )" + std::to_string(i * 1000) + R"(, "tags": ["a", "b"], "x": [{"y": [1e3, null]}]}})";
}

TEST("fuzz: no bytes make the records reader crash, read beyond the file or take memory out of proportion") {
  std::string many = "[";
  for (int i = 0; i < 40; ++i) many += (i > 0 ? ",\r\n" : "") + record(i);
  test::FuzzPlan plan;
  plan.corpus = {bytes("[" + record(1) + "]"),
                 bytes("\xEF\xBB\xBF[ " + record(1) + ",\n" + record(2) + " ]\n"),
                 bytes(many + "]"),
                 bytes(R"([{"id":"a","text":"b"},{"id":"a","text":"b"}])"),
                 bytes("[[[[{]}"),
                 bytes(R"([{"id":"\)")};
  plan.allocation_base = 4 << 20;  // the parser's first buffers
  plan.allocation_factor = 32;
  test::fuzz(plan);
}

}  // namespace
}  // namespace lorekeep::store
