// Walks through the pages of lists, decodes base64 and writes files.
#include "daemon/cli/base/mcp_contents.hpp"

#include "daemon/cli/base/daemon_calls.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mcpbx::cli {
namespace {

// Returns "34 KiB" for the size of base64 data.
std::string size_of_base64(std::string_view data) {
  while (data.ends_with('=')) data.remove_suffix(1);
  const auto bytes = data.size() * 3 / 4;
  if (bytes < 1024) return counted(bytes, "byte");
  const auto kib = (bytes + 512) / 1024;
  return kib < 1024 ? std::to_string(kib) + " KiB" : std::to_string((kib + 512) / 1024) + " MiB";
}

/// Most pages of a list; the daemon sends one.
constexpr int most_pages = 10'000;
constexpr int method_not_found = -32601;

}  // namespace

std::optional<std::vector<json::raw_json>> list_of(context& c, link::daemon_connection& link, std::string_view method,
                                                   std::string_view key, int& status) {
  std::vector<json::raw_json> items;
  std::string params = "{}";
  for (int page = 0; page < most_pages; ++page) {
    const auto got = link.call(method, params);
    if (!got) {
      status = explain(c, got.error());
      return std::nullopt;
    }
    if (got->error && got->error_code() == method_not_found) return items;  // no server has any
    if (got->error) {
      status = explain(c, *got);
      return std::nullopt;
    }
    json::for_each_element(json::find_member(got->result, key), [&](const json::raw_json& item) {
      items.push_back(item);
      return true;
    });
    const std::string next = json::member_text(got->result, "nextCursor");
    if (next.empty()) return items;
    params = json::json_object("cursor", next);
  }
  return items;
}

std::string array_of(const std::vector<json::raw_json>& items) {
  std::string json;
  json::json_writer w(json);
  w.begin_array();
  for (const auto& item : items) w.value(item);
  w.end_array();
  return json;
}

std::string told_block(const json::raw_json& block) {
  const auto resource = json::find_member(block, "resource");
  const auto& holder = resource ? resource : block;
  std::string what = json::member_text(holder, "mimeType");
  if (what.empty()) what = json::member_text(block, "type");
  const auto data = json::find_member(holder, resource ? "blob" : "data").as_string();
  return "[" + std::string(cut_utf8(what, 100)) + (data ? ", " + size_of_base64(*data) : "") + "]";
}

result<void> write_file(const std::string& path, std::string_view bytes) {
  const auto failed = [&] { return fail(errc::io, "cannot write " + path + ": " + std::strerror(errno)); };
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return failed();
  const bool written = terminals::write_all(fd, bytes);
  const auto why = errno;
  const bool closed = ::close(fd) == 0;
  if (!written) errno = why;
  return written && closed ? result<void>() : failed();
}

}  // namespace mcpbx::cli
