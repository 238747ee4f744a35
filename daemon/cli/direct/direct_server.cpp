// The handshake: the old one first, as most servers have it, and requests of 2026-07-28 for a server that refuses it.
#include "daemon/cli/direct/direct_server.hpp"

#include "daemon/app/references/process_specs.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/text.hpp"

#include <unistd.h>

#include <array>
#include <utility>

namespace mcpbx::cli::direct {
namespace {

constexpr int most_pages = 100;
constexpr std::size_t longest_words = 400;  // bytes of the server's stderr in a sentence

constexpr std::string_view modern_meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"mcpbx","version":")" MCPBX_VERSION R"("}})";
constexpr std::string_view legacy_hello =
    R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcpbx","version":")" MCPBX_VERSION
    R"("}})";

}  // namespace

std::string own_program_folder() {
  std::array<char, 4096> buffer;
  const ssize_t n = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  const std::string path(buffer.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return path.substr(0, path.rfind('/'));
}

std::string direct_server::with_meta(std::string_view params) const {
  if (!modern_) return std::string(params);
  const bool empty = params == "{}";
  return std::string(params.substr(0, params.size() - 1)) + (empty ? "" : ",") + std::string(modern_meta) + "}";
}

std::string direct_server::call_params(std::string_view tool, std::string_view arguments) const {
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("name", tool).key("arguments").token(arguments).end_object();
  return with_meta(params);
}

// Makes a sentence of a failure: the end of the process explains more than a closed pipe, and stderr more than both.
error direct_server::explained(const error& why, std::string_view during) {
  std::string text = why.message;
  if (why.code == errc::timed_out) {
    text = "it was not ready within the time limit: it did not answer " + std::string(during);
  } else if (why.code == errc::unavailable) {
    if (const auto end = process_.ended(std::chrono::milliseconds(500)))
      text =
          (end->signalled ? "it was ended by " + end->text() : "it exited with status " + std::to_string(end->value)) +
          " before it was ready, while it was asked " + std::string(during);
  }
  peer_.drain_errors();
  if (peer_.noise() > 0)
    text += "; it wrote " + counted(peer_.noise(), "line") + " to its stdout that is no JSON-RPC, the first one: \"" +
            peer_.first_noise() + "\"";
  if (const auto words = trimmed(peer_.last_words()); !words.empty())
    text += "; last stderr: " +
            redact::tail_for_people(words, longest_words, {.cut = {.front = peer_.words_are_cut(), .back = false}});
  return {why.code, std::move(text)};
}

result<void> direct_server::shake_hands(line_peer::time_point deadline) {
  const auto hello = peer_.call("initialize", legacy_hello, deadline);
  if (!hello) return std::unexpected(explained(hello.error(), "initialize"));
  if (!hello->error) {
    if (!json::find_member(hello->result, "protocolVersion").is_string())
      return fail(errc::protocol, "it answered initialize without a protocolVersion");
    return peer_.notify("notifications/initialized", "{}", deadline);
  }
  modern_ = true;
  const auto found = peer_.call("server/discover", with_meta("{}"), deadline);
  if (!found) return std::unexpected(explained(found.error(), "server/discover"));
  if (!found->error) return {};
  return fail(errc::peer, "it refused the handshake: " +
                              redact::cut_for_people(json::member_text(hello->error, "message"), longest_words));
}

result<std::unique_ptr<direct_server>> direct_server::start(const conf::model::server_entry& entry,
                                                            std::chrono::milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  const auto spec = daemon::references::make_process_spec(entry, own_program_folder());
  if (!spec) return std::unexpected(spec.error());
  auto process = guarded_process::start(*spec);
  if (!process) return fail(process.error().code, "it cannot be started: " + process.error().message);
  std::unique_ptr<direct_server> made(new direct_server(std::move(*process)));
  if (auto shaken = made->shake_hands(deadline); !shaken) return std::unexpected(shaken.error());
  return made;
}

result<std::size_t> direct_server::count_tools(line_peer::time_point deadline) {
  std::size_t count = 0;
  std::string cursor;
  for (int page = 0; page < most_pages; ++page) {
    std::string params;
    json::json_writer w(params);
    w.begin_object().filled("cursor", cursor).end_object();
    const auto got = peer_.call("tools/list", with_meta(params), deadline);
    if (!got) return std::unexpected(explained(got.error(), "tools/list"));
    if (got->error) return page == 0 ? result<std::size_t>(0) : fail(errc::peer, "it broke off its list of tools");
    json::for_each_element(json::find_member(got->result, "tools"), [&](const json::raw_json&) {
      ++count;
      return true;
    });
    auto next = json::member_text(got->result, "nextCursor");
    if (next.empty() || next == cursor) return count;
    cursor = std::move(next);
  }
  return count;
}

}  // namespace mcpbx::cli::direct
