// Says for each pair of a corpus whether the value fits the schema, so that another judge (ajv, in
// test/npm/json_schema.mjs) can be compared. usage: schema_agree CORPUS
// A corpus has one JSON array per line: [schema, value, …]. Prints one line per schema: a JSON array with, for each
// value, "" when it fits and otherwise what is wrong; or a string when the schema is not compiled or has notes.
#include "mcp/json/raw_json.hpp"
#include "providers/schema/validator/json_schema.hpp"

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

namespace {

std::string judge(const std::string& line) {
  const auto parsed = mcpbx::json::raw_json::parse(line);
  if (!parsed) return mcpbx::json::json_quoted("no JSON: " + parsed.error().message);
  std::string out;
  std::string problem;
  std::optional<mcpbx::providers::schema::json_schema> compiled;
  mcpbx::json::for_each_element(*parsed, [&](mcpbx::json::raw_json element) {
    if (!compiled) {
      auto made = mcpbx::providers::schema::json_schema::compile(element);
      if (!made)
        problem = made.error().message;
      else if (!made->notes().empty())
        problem = mcpbx::providers::schema::describe(made->notes(), "schema");
      else
        compiled = std::move(*made);
      return problem.empty();
    }
    out += out.empty() ? "[" : ",";
    out += mcpbx::json::json_quoted(mcpbx::providers::schema::describe(compiled->check(element).violations, "value"));
    return true;
  });
  return problem.empty() ? (out.empty() ? "[" : out) + "]" : mcpbx::json::json_quoted(problem);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: schema_agree CORPUS\n", stderr);
    return 2;
  }
  std::ifstream corpus(argv[1]);
  if (!corpus) {
    std::fprintf(stderr, "schema_agree: cannot read %s: give the path of the corpus\n", argv[1]);
    return 2;
  }
  for (std::string line; std::getline(corpus, line);)
    if (!line.empty()) std::puts(judge(line).c_str());
  return 0;
}
