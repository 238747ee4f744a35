// Says for each document of a corpus whether the loader takes it, so that another judge (ajv with the published schema,
// test/npm/conf_schema.mjs) can be compared. usage: conf_agree CORPUS [CONFIG…]
// A corpus has one JSON string per line, which holds the document; each CONFIG is a file of its own. Prints one line
// per document: a JSON object {"accepts": bool, "errors": [text…]} (documents first, then files).
#include "conf/load.hpp"
#include "mcp/json/raw_json.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace {

void judge(const std::string& name, const std::string& text) {
  const std::array files{mcpbx::conf::source_text{name, text}};
  const auto made = mcpbx::conf::load(files, {});
  std::string out = std::string("{\"accepts\": ") + (made.ok() ? "true" : "false") + ", \"errors\": [";
  bool first = true;
  for (const auto& e : made.errors) {
    if (!first) out += ", ";
    first = false;
    out += mcpbx::json::json_quoted(e.text());
  }
  std::puts((out + "]}").c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: conf_agree CORPUS [CONFIG...]\n", stderr);
    return 2;
  }
  std::ifstream corpus(argv[1]);
  if (!corpus) {
    std::fprintf(stderr, "conf_agree: cannot read %s: give the path of corpus.jsonl\n", argv[1]);
    return 2;
  }
  int number = 0;
  for (std::string line; std::getline(corpus, line);) {
    ++number;
    if (line.empty()) continue;
    const auto document = mcpbx::json::raw_json::parse(line);
    const auto text = document ? document->as_string() : std::nullopt;
    if (!text) {
      std::fprintf(stderr, "conf_agree: line %d of %s is no JSON string: write each document as one\n", number,
                   argv[1]);
      return 2;
    }
    judge("line " + std::to_string(number), *text);
  }
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i]);
    if (!file) {
      std::fprintf(stderr, "conf_agree: cannot read %s: correct the path\n", argv[i]);
      return 2;
    }
    judge(argv[i], {std::istreambuf_iterator<char>(file), {}});
  }
  return 0;
}
