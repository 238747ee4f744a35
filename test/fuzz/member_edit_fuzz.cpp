// Editing members: opening is safe on any text; an edited object is well-formed and its other members are unchanged.
#include "mcp/json/json_scanner.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using mcpbx::json::raw_json;
using mcpbx::json::raw_object;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);

  const raw_json unchecked = raw_json::own(text);
  auto any = raw_object::open(unchecked, {"a", "b"});
  const auto read = mcpbx::json::read_members(unchecked, {"a", "b"});
  require(any.has_value() == read.has_value());
  if (read) require((*read)[0].text() == any->find("a").text() && (*read)[1].text() == any->find("b").text());
  (void)mcpbx::json::find_member(unchecked, "a");
  mcpbx::json::for_each_element(unchecked, [](const raw_json&) { return true; });
  (void)mcpbx::json::unescaped(text);

  const auto checked = raw_json::parse(text);
  if (!checked || !checked->is_object()) return 0;
  auto object = raw_object::open(*checked);
  require(object.has_value());

  // The key of one of the members, or one that is not there.
  std::string key = "\n new \xFF key";
  std::size_t at = choice % 8;
  object->for_each([&](std::string_view k, const raw_json&) {
    if (at-- == 0) key = k;
  });
  const raw_object before = *object;
  if (choice >= 128)
    object->erase(key);
  else
    object->set(key, raw_json::literal("[true]"));

  const std::string result = object->build().str();
  require(mcpbx::json::check_json(result, 256) == mcpbx::json::json_scanner::fault::none);
  require(object->json().text() == result);
  const auto again = raw_object::open(raw_json::own(result));
  require(again.has_value());
  require(again->size() == object->size());
  before.for_each([&](std::string_view k, const raw_json&) {
    if (k != key) require(again->find(k).text() == before.find(k).text());
  });
  return 0;
}
