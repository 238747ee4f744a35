// Compares the requests of the codecs with those of the official clients for the same conversation
// (test/data/sdk-requests).
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;
namespace json = boost::json;

json::value recorded(const std::string& api) {
  std::ifstream in(MCPBX_SOURCE_DIR "/test/data/sdk-requests/" + api + ".json");
  std::ostringstream text;
  text << in.rdbuf();
  REQUIRE_FALSE(text.str().empty());
  return json::parse(text.str());
}

// The members whose values differ, with both.
void differences(const std::string& at, const json::value* theirs, const json::value* ours,
                 std::vector<std::string>& out) {
  if (theirs != nullptr && ours != nullptr) {
    if (*theirs == *ours) return;
    if (theirs->is_object() && ours->is_object()) {
      for (const auto& [key, value] : theirs->get_object())
        differences(at + "/" + std::string(key), &value, ours->get_object().if_contains(key), out);
      for (const auto& [key, value] : ours->get_object())
        if (!theirs->get_object().contains(key)) differences(at + "/" + std::string(key), nullptr, &value, out);
      return;
    }
    if (theirs->is_array() && ours->is_array() && theirs->get_array().size() == ours->get_array().size()) {
      for (std::size_t i = 0; i < ours->get_array().size(); ++i)
        differences(at + "/" + std::to_string(i), &theirs->get_array()[i], &ours->get_array()[i], out);
      return;
    }
  }
  const auto text = [](const json::value* v) { return v == nullptr ? std::string("nothing") : json::serialize(*v); };
  out.push_back(at + ": " + text(theirs) + " / " + text(ours));
}

model_request conversation() {
  model_request r;
  r.tools =
      tools_of({{"get_weather", "Weather of a city",
                 raw_json::literal(R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})")},
                {"take_photo", "A photo", raw_json::literal(R"({"type":"object","properties":{}})")}});
  auto asked = std::make_shared<message>();
  asked->blocks = {text_block{"What is here?"}, image_block{"image/png", "iVBORw0KGgo=", ""}};
  r.messages = {system_message("Be brief."), asked,
                assistant_of("", {call_of("call_1", "get_weather", R"({"city":"Oslo"})"),
                                  call_of("call_2", "take_photo", "{}"), call_of("call_3", "take_photo", "{}")}),
                results_of({result_of("call_1", "get_weather", R"({"content":[{"type":"text","text":"rain"}]})"),
                            result_of("call_2", "take_photo",
                                      R"({"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]})"),
                            result_of("call_3", "take_photo",
                                      R"({"content":[{"type":"text","text":"no film"}],"isError":true})", true)})};
  r.settings.stop = {"END"};
  return r;
}

TEST_CASE("F1: every codec sends what the official client of its API sends for the same conversation") {
  struct row {
    std::string api, base;
    std::vector<std::string> differ;
  };
  for (const auto& [api, base, differ] :
       std::vector<row>{{"openai-chat", "https://api.openai.com/v1", {}},
                        {"azure", "https://r.openai.azure.com", {}},
                        {"openai-responses", "https://api.openai.com/v1", {}},
                        {"anthropic", "https://api.anthropic.com", {}},
                        {"gemini",
                         "https://generativelanguage.googleapis.com/v1beta",
                         {// The call is another model's, which has no signature; the role says nothing.
                          R"(/contents/1/parts/0/thoughtSignature: "c2lnbg==" / "skip_thought_signature_validator")",
                          R"(/systemInstruction/role: "user" / nothing)"}},
                        {"ollama", "http://127.0.0.1:11434", {}}}) {
    CAPTURE(api);
    wire_options o;
    o.model = api == "gemini" ? "gemini-3" : "a-model";
    o.base_url = base;
    o.max_output_tokens = 100;
    o.temperature = "0.5";  // dropped for anthropic, whose client knows no sampling any more
    o.top_p = "0.9";
    if (api != "anthropic") o.parallel_tool_calls = true;
    apply_dialect(api, o);
    const auto ours = find_codec(api)->encode(conversation(), o);
    const auto theirs = recorded(api);
    CHECK(theirs.at("method") == "POST");
    const auto path = ours.url.substr(ours.url.find('/', ours.url.find("://") + 3));
    CHECK(path == std::string(theirs.at("path").as_string()));
    for (const auto& [name, value] : ours.headers)
      if (name == "anthropic-version" || name == "Content-Type")
        CHECK(value ==
              std::string(theirs.at("headers").at(name == "Content-Type" ? "content-type" : name).as_string()));
    std::vector<std::string> found;
    const auto body = json::parse(ours.body.str());
    differences("", &theirs.at("body"), &body, found);
    std::ranges::sort(found);
    CHECK(found == differ);
  }
}

}  // namespace
