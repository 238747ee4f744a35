// Writes scenes down and compares them with their files.
#include "test/mcp/bridging/scene.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace mcpbx::test {
namespace {

void replace_all(std::string& in, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = in.find(from, at)) != std::string::npos; at += to.size())
    in.replace(at, from.size(), to);
}

std::string arrow(const bridge_step& s) {
  switch (s.direction) {
    case bridge_step::way::caller_in:
      return s.who + " → mcpbx";
    case bridge_step::way::caller_out:
      return "mcpbx → " + s.who;
    case bridge_step::way::server_in:
      return "mcpbx → " + s.who;
    case bridge_step::way::server_out:
      return s.who + " → mcpbx";
    case bridge_step::way::remark:
      break;
  }
  return "#";
}

std::string file_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// Returns the first line that differs, with its number, for people.
std::string first_difference(const std::string& recorded, const std::string& now) {
  std::istringstream a(recorded), b(now);
  std::string x, y;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, x)), more_b = static_cast<bool>(std::getline(b, y));
    if (!more_a && !more_b) return {};
    if (more_a != more_b || x != y)
      return "line " + std::to_string(line) + "\n  recorded: " + (more_a ? x : "(end)") +
             "\n  now:      " + (more_b ? y : "(end)");
  }
}

}  // namespace

scene begin(bridge& b, const scene_setup& s) {
  auto& srv = b.add_server("srv");
  if (s.server) s.server(srv);
  b.start(s.options);
  auto& caller = b.add_caller("caller", "uid:1");
  caller.capabilities = s.capabilities;
  caller.answerer = answer_all;
  caller.open();
  b.pass();
  b.record();
  return {b, srv, caller};
}

std::string answer_all(std::string_view method, const json::raw_json& params) {
  if (method == "roots/list") return R"({"roots":[{"uri":"file:///work","name":"work"}]})";
  if (method == "sampling/createMessage")
    return R"({"role":"assistant","content":{"type":"text","text":"word"},"model":"m","stopReason":"endTurn"})";
  if (json::find_member(params, "mode").as_string() == "url") return R"({"action":"accept"})";
  return R"({"action":"accept","content":{"one":"this"}})";
}

std::vector<std::string> sent(const bridge& b, bridge_step::way way, const std::string& who) {
  std::vector<std::string> out;
  for (const bridge_step& s : b.recorded())
    if (s.direction == way && s.who == who) out.push_back(s.line);
  return out;
}

std::string written(const std::vector<bridge_step>& steps) {
  std::string out;
  std::vector<std::string> states;  // texts that mcpbx sealed, which differ each time
  for (const bridge_step& s : steps) {
    std::string line = s.line;
    if (s.direction == bridge_step::way::remark) {
      out += "# " + line + "\n";
      continue;
    }
    if (s.direction == bridge_step::way::caller_out && line.starts_with('{'))
      if (const std::string state = member_at(line, {"result", "requestState"});
          !state.empty() && !state.starts_with("\"state-"))
        states.push_back(state);
    for (std::size_t i = 0; i < states.size(); ++i)
      replace_all(line, states[i], "\"@STATE" + std::to_string(i + 1) + "@\"");
    replace_all(line, R"({"jsonrpc":"2.0",)", "{");
    replace_all(line, "io.modelcontextprotocol/", "…/");
    out += arrow(s) + "  " + line + "\n";
  }
  return out;
}

void play_row(const std::string& name, const std::string& title, void (*row)(bridge&)) {
  std::string now = "# " + title + "\n";
  for (const eras e : all_eras) {
    CAPTURE(e.sign());
    bridge b(e);
    row(b);
    for (const auto& c : b.callers()) {
      for (const auto& wrong : c->wrong) FAIL_CHECK(c->name, " ", wrong);
      for (const auto& [id, r] : c->requests()) CHECK_MESSAGE(r.answers.size() <= 1, c->name, " ", id);
    }
    for (const auto& s : b.servers())
      for (const auto& l : s->lives) CHECK(l->stray.empty());
    now += "\n== " + e.words() + " (" + e.sign() + ")\n" + written(b.recorded());
  }
  const auto file = std::filesystem::path(MCPBX_SOURCE_DIR) / "test/transcripts/eras" / (name + ".txt");
  if (std::getenv("MCPBX_UPDATE") != nullptr) {
    std::ofstream(file, std::ios::binary) << now;
    return;
  }
  const std::string recorded = file_text(file);
  REQUIRE_MESSAGE(!recorded.empty(), file.string());
  CHECK_MESSAGE(
      recorded == now, name,
      ".txt is not what is sent now; if that is meant, run this test once with MCPBX_UPDATE=1 and look at the "
      "difference\n",
      first_difference(recorded, now));
}

}  // namespace mcpbx::test
