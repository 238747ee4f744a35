// Tests of the latest responses: bounds, owners, and items by their ids.
#include "daemon/front/base/kept_responses.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::front;
using namespace mcpbx::json;

TEST_CASE("D2: kept responses: an item is found by its id, for the caller who got it") {
  kept_responses all;
  all.keep(
      {"resp_run_1", "s", "me", {{"msg_run_1_0", raw_json::literal("1")}, {"fc_run_1_1", raw_json::literal("2")}}});
  CHECK(all.item("fc_run_1_1", "me").text() == "2");
  CHECK_FALSE(all.item("fc_run_1_1", "you"));
  CHECK_FALSE(all.item("fc_run_1_2", "me"));
  for (const auto* id : {"", "_", "fc", "fc_", "fc_run_1", "__"}) CHECK_FALSE(all.item(id, "me"));
  REQUIRE(all.find("resp_run_1", "me") != nullptr);
  CHECK(all.find("resp_run_1", "me")->session == "s");
  CHECK(all.find("resp_run_1", "you") == nullptr);
}

TEST_CASE("D2: kept responses: the oldest go first when there are too many or too large ones") {
  kept_responses all;
  for (std::size_t i = 0; i <= kept_responses::most; ++i) all.keep({"resp_" + std::to_string(i), "", "me", {}});
  CHECK(all.find("resp_0", "me") == nullptr);
  CHECK(all.find("resp_1", "me") != nullptr);
  const auto large = raw_json::string(std::string(kept_responses::most_bytes - 4096, 'x'));
  all.keep({"resp_large", "", "me", {{"a", large}}});
  CHECK(all.find("resp_1", "me") == nullptr);
  CHECK(all.find("resp_large", "me") != nullptr);
  CHECK(all.bytes() <= kept_responses::most_bytes);
  const auto larger = raw_json::string(std::string(kept_responses::most_bytes, 'x'));
  all.keep({"resp_larger", "", "me", {{"a", larger}}});
  CHECK(all.find("resp_larger", "me") == nullptr);
  CHECK(all.find("resp_large", "me") != nullptr);
}
