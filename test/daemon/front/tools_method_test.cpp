// The method mcpbx/tools: which tools it names, in which form, and what became of the others.
#include "test/daemon/front/door_fixture.hpp"
#include "test/mcp/server/fake_host.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace front_doors {

using namespace mcpbx::daemon::front;

TEST_CASE("tools filters by pattern and by name") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read"),
                                            make_tool(server, "git__log", "log")},
      2);
  auto& caller = f.enter();
  const auto names = [&](const std::string& params) {
    caller.say(request(1, "mcpbx/tools", params));
    f.backend.settle();
    std::string out;
    for_each_element(find_member(result_of(caller.sent.back()), "tools"), [&](const raw_json& t) {
      out += find_member(t, "name").as_string().value_or("?") + " ";
      return true;
    });
    return out;
  };
  CHECK(names("{}") == "files__read git__log ");
  CHECK(names(R"({"pattern":"git*"})") == "git__log ");
  CHECK(names(R"({"name":"files__read"})") == "files__read ");
  CHECK(names(R"({"pattern":"x*"})").empty());
  CHECK(names(R"({"pattern":"git*"})") == "git__log ");
}

TEST_CASE("G7: a tool that is known now is shown while other servers start, and an unknown name waits for them") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read")}, 2);
  auto& caller = f.enter();
  const raw_json known = result_of(f.ask(caller, request(1, "mcpbx/tools", R"({"name":"files__read"})")));
  CHECK(known.text().find("files__read") != std::string_view::npos);
  CHECK(find_member(known, "server").as_string() == "files");
  CHECK(f.ask(caller, request(2, "mcpbx/tools", R"({"name":"git__log"})")).empty());
  f.backend.settle();
  CHECK(result_of(caller.sent.back()).text() == R"({"tools":[]})");
}

TEST_CASE("F8: tools beyond as many as the model takes are told, also when only some are asked for") {
  door_fixture f;
  struct directory final : model_directory {
    void list(const std::string&, bool, std::function<void(result<std::vector<model_row>>)>) override {}
    std::size_t max_tools(std::string_view name, std::string_view api) const override {
      CHECK(name == "");
      return api == "openai-chat" ? 3 : 0;
    }
  } models;
  f.backend.directory_of_models = &models;
  auto server = std::make_shared<fake_client>("s");
  auto odd = std::make_shared<mcp::catalogs::catalog_entry>(*make_tool(server, "s__b", "b"));
  odd->definition = raw_json::literal(R"({"name":"b","inputSchema":{"type":"string"}})");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "s__d", "d"), make_tool(server, "s__c", "c"), odd,
                                            make_tool(server, "s__a", "a")},
      2);
  auto& caller = f.enter();
  const auto answer = [&](const std::string& params) {
    caller.say(request(1, "mcpbx/tools", params));
    f.backend.settle();
    return std::string(result_of(caller.sent.back()).text());
  };
  const std::string beyond =
      R"({"name":"s__d","reason":"The tool \"s__d\" is left out: the model takes 3 tools (maxTools, one place is kept )"
      R"(for mcpbx's own), and this one is not among the first by name; choose with tools.allow or tools.deny of the )"
      R"(servers or of a profile."})";
  const auto all = answer(R"({"format":"openai"})");
  CHECK(all.find(R"("leftOut":[{"name":"s__b")") != std::string::npos);
  CHECK(all.find("," + beyond + "]") != std::string::npos);
  CHECK(all.find(R"("function":{"name":"s__a")") != std::string::npos);
  CHECK(all.find(R"("function":{"name":"s__c")") != std::string::npos);
  CHECK(answer(R"({"format":"openai","pattern":"*__d"})") == R"({"tools":[],"leftOut":[)" + beyond + "]}");
  CHECK(answer(R"({"format":"anthropic","pattern":"*__d"})").find("leftOut") == std::string::npos);
  CHECK(answer(R"({"format":"react"})").find("maxTools") == std::string::npos);
  CHECK(answer(R"({"format":"mcp"})").find("leftOut") == std::string::npos);
}

TEST_CASE("F8: a tool that is listed alone has the name that it has among all") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("s");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "s__a_b", "a_b"), make_tool(server, "s__a.b", "a.b")}, 2);
  auto& caller = f.enter();
  const auto named = [&](const std::string& more) {
    caller.say(request(1, "mcpbx/tools", R"({"format":"anthropic")" + more + "}"));
    f.backend.settle();
    std::vector<std::string> names;
    for_each_element(find_member(result_of(caller.sent.back()), "tools"), [&](const raw_json& tool) {
      names.push_back(find_member(tool, "name").as_string().value());
      return true;
    });
    return names;
  };
  const auto all = named("");
  REQUIRE(all.size() == 2);
  CHECK(all[0] != all[1]);
  CHECK(named(R"(,"name":"s__a.b")") == std::vector{all[0]});
  CHECK(named(R"(,"pattern":"*a_b")") == std::vector{all[1]});
}

TEST_CASE("G15: what the catalog could not have is told with the tools, and not for one tool by its name") {
  door_fixture f;
  auto one = std::make_shared<fake_client>("one"), two = std::make_shared<fake_client>("two");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(one, "one__a", "a"), make_tool(two, "two__a", "a")}, 2,
      mcp::catalogs::withheld_tools{}, std::vector<mcp::catalogs::dropped_item>{{"one", "First."}, {"two", "Second."}});
  auto& caller = f.enter();
  const auto dropped = [&](const std::string& params) {
    caller.say(request(1, "mcpbx/tools", params));
    f.backend.settle();
    return std::string(find_member(result_of(caller.sent.back()), "dropped").text());
  };
  const std::string first = R"({"server":"one","reason":"First."})", second = R"({"server":"two","reason":"Second."})";
  for (const auto* format : {"mcp", "openai", "react"})
    CHECK(dropped(R"({"format":")" + std::string(format) + "\"}") == "[" + first + "," + second + "]");
  CHECK(dropped("{}") == "[" + first + "," + second + "]");
  CHECK(dropped(R"({"pattern":"two__*"})") == "[" + second + "]");
  CHECK(dropped(R"({"pattern":"one__lost"})") == "[" + first + "," + second + "]");
  CHECK(dropped(R"({"name":"one__a"})").empty());
}

TEST_CASE("F8: tools in the form of an API leave out what it cannot take, and say why") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  auto odd = std::make_shared<mcp::catalogs::catalog_entry>(*make_tool(server, "files__odd", "odd"));
  odd->definition = raw_json::literal(R"({"name":"odd","inputSchema":{"type":"string"}})");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read"), odd}, 2);
  auto& caller = f.enter();
  const auto answer = [&](const std::string& format) {
    caller.say(request(1, "mcpbx/tools", R"({"format":")" + format + "\"}"));
    f.backend.settle();
    return std::string(result_of(caller.sent.back()).text());
  };
  const std::string left_out =
      R"(,"leftOut":[{"name":"files__odd","reason":"The tool \"files__odd\" is left out: its schema is of type \"string\" where arguments are an object."}]})";
  const std::string schema = R"({"type":"object","properties":{}})";
  CHECK(answer("anthropic") ==
        R"({"tools":[{"name":"files__read","description":"does read","input_schema":)" + schema + "}]" + left_out);
  CHECK(answer("gemini") == R"({"tools":[{"name":"files__read","description":"does read","parametersJsonSchema":)" +
                                schema + "}]" + left_out);
  CHECK(answer("openai-responses") ==
        R"({"tools":[{"type":"function","name":"files__read","description":"does read","parameters":)" + schema +
            R"(,"strict":false}])" + left_out);
  for (const auto* format : {"openai", "openai-chat", "dial", "azure", "ollama"})
    CHECK(answer(format) ==
          R"({"tools":[{"type":"function","function":{"name":"files__read","description":"does read","parameters":)" +
              schema + "}}]" + left_out);
  const auto text = answer("react");
  CHECK(text.starts_with(R"({"prompt":"# Tools)"));
  CHECK(text.ends_with(left_out));
}

TEST_CASE("F8: what a tool lost on its way to an API is told with the tools in that form, and only there") {
  door_fixture f;
  auto server = std::make_shared<fake_client>("files");
  auto odd = std::make_shared<mcp::catalogs::catalog_entry>(*make_tool(server, "files__odd", "odd"));
  odd->definition =
      raw_json::literal(R"({"name":"odd","inputSchema":{"type":"object","properties":{"$a":{},"b":1,"\u001bc":2}}})");
  f.backend.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read"), odd}, 2);
  auto& caller = f.enter();
  const auto changed = [&](const std::string& params) {
    caller.say(request(1, "mcpbx/tools", params));
    f.backend.settle();
    return std::string(find_member(result_of(caller.sent.back()), "changed").text());
  };
  const std::string words = R"([{"name":"files__odd","reason":"The tool \"files__odd\" is offered with changes: )"
                            R"(inputSchema loses characters that are not seen, in names or values; )"
                            R"(inputSchema.properties.b is no schema and goes; )"
                            R"(inputSchema.properties.c is no schema and goes)";
  CHECK(changed(R"({"format":"openai"})") == words + R"(."}])");
  CHECK(
      changed(R"({"format":"anthropic"})") ==
      words +
          R"(; the argument \"$a\" goes, because this model's API takes only names of 64 letters, digits, _ . and -."}])");
  CHECK(changed(R"({"format":"anthropic","pattern":"*read"})").empty());
  CHECK(changed("{}").empty());
}

}  // namespace front_doors
