// Copies the shown spans of the server's bytes as they are. Unescapes only texts that may have invisible characters.
#include "daemon/loop/results/result_view.hpp"

#include "daemon/loop/results/read_result.hpp"
#include "daemon/loop/results/result_text.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/formatted.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace mcpbx::daemon::results {
namespace {

constexpr std::size_t tail_share = 4;  // a quarter of the shown text is taken from its end

json::raw_json text_only(std::string_view text, bool is_error) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("content").begin_array().token(json::json_object("type", "text", "text", text)).end_array();
  return w.set("isError", is_error).end_object().json();
}

// The parts without text, such as images: those that are kept, in order, and number and size of the others.
struct other_parts {
  std::vector<json::raw_json> kept;
  std::size_t kept_bytes = 0, left_out = 0, left_out_bytes = 0;
};

other_parts choose(const json::raw_json& content, std::size_t text_size, std::size_t max_bytes) {
  other_parts parts;
  // A long text gets at least half of the room.
  const auto room = max_bytes - std::min(text_size, max_bytes / 2);
  json::for_each_element(content, [&](json::raw_json part) {
    if (text_of_part(part)) return true;
    const auto size = part.text().size();
    if (size <= room - parts.kept_bytes) {
      parts.kept_bytes += size;
      parts.kept.push_back(std::move(part));
    } else {
      ++parts.left_out;
      parts.left_out_bytes += size;
    }
    return true;
  });
  return parts;
}

result_view cut(const json::raw_json& result, bool is_error, std::size_t max_bytes, std::string_view call_id) {
  const result_text text(result);
  const auto parts = choose(json::find_member(result, "content"), text.size(), max_bytes);
  const auto room = max_bytes - parts.kept_bytes;
  const bool missing = text.size() > room;
  const auto head = missing ? text.boundary(room - room / tail_share) : text.size();
  const auto tail = missing ? text.boundary(text.size() - room / tail_share) : text.size();

  std::string json;
  json::json_writer w(json);
  w.begin_object().key("content").begin_array();
  const auto add = [&](std::size_t from, std::size_t to) {
    if (from >= to) return;
    w.begin_object().member("type", "text").key("text");
    json += '"';
    text.append(json, from, to);
    json += '"';
    w.end_object();
  };
  add(0, head);
  if (missing || parts.left_out > 0) {
    auto notice =
        formatted("[This result of {} bytes was cut to the {} that are allowed", result.text().size(), max_bytes);
    const auto bytes = [](std::size_t n) { return counted(n, "byte"); };
    if (missing)
      notice += "; " + bytes(tail - head) + (tail - head == 1 ? " of text is" : " of text are") + " missing here";
    if (parts.left_out > 0)
      notice += formatted("; {} no text ({}) {} left out",
                          counted(parts.left_out, "part") + (parts.left_out == 1 ? " that is" : " that are"),
                          bytes(parts.left_out_bytes), parts.left_out == 1 ? "was" : "were");
    notice += missing ? ". " + read_result::hint(call_id, head) + "]" : ".]";
    w.token(json::json_object("type", "text", "text", notice));
  }
  add(tail, text.size());
  for (const auto& part : parts.kept) w.value(part);
  return {w.end_array().set("isError", is_error).end_object().json(), missing};
}

}  // namespace

result_view model_view(const json::raw_json& result, bool is_error, std::int64_t max_bytes, std::string_view empty_text,
                       std::string_view call_id) {
  const auto nothing = [](const json::raw_json& r) {
    return says_nothing(json::find_member(r, "content")) && !json::find_member(r, "structuredContent");
  };
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(max_bytes, 0));
  result_view view{result};
  // Cuts by the size of the whole result. Members other than content and isError are kept only if all of it fits.
  if (!nothing(result) && result.text().size() > most) view = cut(result, is_error, most, call_id);
  view.shown = redact::without_hidden(view.shown);
  if (nothing(view.shown))
    view.shown = text_only(is_error ? "The tool reported an error and said nothing about it." : empty_text, is_error);
  return view;
}

}  // namespace mcpbx::daemon::results
