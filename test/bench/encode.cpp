// Measures the cost of making requests: converting tools for an API, encoding conversations. A separate program,
// because it is made of the product's own parts while the driver shares none with it.
//   bench_encode FOLDER [REPEAT]     FOLDER: test/data/tools; prints lines "ROW<tab>VALUE", CPU time of this thread,
//                                    the least of REPEAT (5)
#include "daemon/loop/tools/round_tools.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/call/text_conversation.hpp"
#include "providers/wire/registry/registry.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::tools;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::call;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;

constexpr std::array<std::string_view, 5> apis{"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"};
constexpr std::size_t tool_count = 1'000, message_count = 10'000;

double cpu_us() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

template <class Work>
double cost_of(Work&& work) {
  const double since = cpu_us();
  work();
  return cpu_us() - since;
}

std::vector<raw_json> definitions(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& f : std::filesystem::directory_iterator(folder))
    if (f.path().extension() == ".jsonl") files.push_back(f.path());
  std::ranges::sort(files);
  std::vector<raw_json> all;
  for (const auto& f : files) {
    std::ifstream in(f);
    for (std::string line; std::getline(in, line);)
      if (auto one = raw_json::parse(line)) all.push_back(*std::move(one));
  }
  return all;
}

mcp::catalogs::entry_ptr entry_of(const raw_json& definition, std::size_t number) {
  auto e = std::make_shared<mcp::catalogs::catalog_entry>();
  e->tool = "t" + std::to_string(number);
  e->name = "bench__" + e->tool;
  e->server = "bench";
  // No two are alike, so that nothing is found that another one left.
  auto own = raw_object::open(definition).value();
  own.set("name", raw_json::string(e->tool));
  e->definition = own.json();
  e->hash = stable_hash(e->definition.text());
  e->description = find_member(definition, "description").as_string().value_or("");
  return e;
}

struct least {
  double value = 0;
  void add(double v) { value = value == 0 ? v : std::min(value, v); }
};

// Tools: the first request of an API, the next one, and one behind a catalog in which one tool changed.
struct tool_costs {
  least first, next, changed;
};

tool_costs convert(std::string_view api, const std::vector<raw_json>& from, int repeat) {
  tool_costs costs;
  const auto* codec = find_codec(api);
  wire_options options;
  options.model = "bench";
  options.base_url = "http://127.0.0.1/v1";
  const std::string name(api);
  for (int i = 0; i < repeat; ++i) {
    std::vector<mcp::catalogs::entry_ptr> entries;
    for (std::size_t n = 0; n < tool_count; ++n) entries.push_back(entry_of(from[n % from.size()], n));
    const auto before = std::make_shared<mcp::catalogs::catalog>(entries, 1);
    entries[tool_count / 2] = entry_of(from[0], tool_count);
    const auto after = std::make_shared<mcp::catalogs::catalog>(entries, 2);
    round_tools tools;
    const auto ask = [&](const mcp::catalogs::catalog_ptr& catalog) {
      model_request request;
      request.messages = {user_message("go")};
      request.tools = tools.offer(catalog, {}, name)->set;
      if (request.tools->tools.size() * 10 < tool_count * 9) std::exit(1);
      codec->encode(request, options);
    };
    costs.first.add(cost_of([&] { ask(before); }));
    costs.next.add(cost_of([&] { ask(before); }));
    costs.changed.add(cost_of([&] { ask(after); }));
  }
  return costs;
}

// A conversation with a call in every fourth message, of another provider's making.
std::vector<message_ptr> conversation() {
  std::vector<message_ptr> all{system_message("Be brief.")};
  const std::string words(200, 'w');
  while (all.size() < message_count) {
    const auto id = std::to_string(all.size());
    all.push_back(user_message("What about " + id + "? " + words));
    auto asks = std::make_shared<message>();
    asks->role = role::assistant;
    tool_call_block call;
    call.id = "call_" + id;
    call.name = "echo";
    call.arguments = raw_json::own(R"({"text":")" + words + "\"}");
    asks->blocks.emplace_back(std::move(call));
    all.push_back(std::move(asks));
    auto results = std::make_shared<message>();
    results->role = role::tool_results;
    results->blocks.emplace_back(tool_result_block{
        "call_" + id, "echo", raw_json::own(R"({"content":[{"type":"text","text":")" + words + "\"}]}"), false});
    all.push_back(std::move(results));
    auto says = std::make_shared<message>();
    says->role = role::assistant;
    says->blocks.emplace_back(text_block{words});
    all.push_back(std::move(says));
  }
  return all;
}

struct round_costs {
  least first, next;
};

round_costs encode(std::string_view api, const text::tool_format* format, int repeat) {
  round_costs costs;
  const auto* codec = find_codec(api);
  wire_options options;
  options.model = "bench";
  options.base_url = "http://127.0.0.1/v1";
  for (int i = 0; i < repeat; ++i) {
    model_request request;
    request.messages = conversation();
    const auto ask = [&] { codec->encode(format != nullptr ? in_text(request, *format) : request, options); };
    costs.first.add(cost_of(ask));
    request.messages.push_back(user_message("And then?"));
    costs.next.add(cost_of(ask));
  }
  return costs;
}

void print(const std::string& row, double value) {
  std::printf("%s\t%.4f\n", row.c_str(), value);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int repeat = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  log::install(log::level::off, {});
  const auto from = definitions(argv[1]);
  if (from.empty()) return 1;
  double slowest_next = 0, slowest_changed = 0, slowest_first = 0, slowest_round = 0;
  for (const auto api : apis) {
    const auto tools = convert(api, from, repeat);
    print("1,000 tools for " + std::string(api), tools.first.value / 1e3);
    slowest_next = std::max(slowest_next, tools.next.value);
    slowest_changed = std::max(slowest_changed, tools.changed.value);
    const auto rounds = encode(api, nullptr, repeat);
    slowest_first = std::max(slowest_first, rounds.first.value);
    slowest_round = std::max(slowest_round, rounds.next.value);
  }
  print("1,000 tools, next round", slowest_next);
  print("1,000 tools, one changed", slowest_changed / 1e3);
  print("10,000 messages, first request", slowest_first / 1e3);
  print("10,000 messages, next round", slowest_round / 1e3);
  const auto in_words = encode("openai-chat", text::find_format("hermes"), repeat);
  print("10,000 messages as text, next round", in_words.next.value / 1e3);
}
