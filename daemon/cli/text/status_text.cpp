// Formats the status. Unknown members are shown as they are, so that an older command line hides nothing.
#include "daemon/cli/text/status_text.hpp"

#include "daemon/cli/text/server_text.hpp"
#include "daemon/cli/text/session_text.hpp"
#include "daemon/cli/text/units_text.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>

namespace mcpbx::cli::text {
namespace {

std::string value_text(const json::raw_json& value);

std::string members_of(const json::raw_json& object) {
  std::string all;
  if (const auto opened = json::raw_object::open(object))
    opened->for_each([&](std::string_view key, const json::raw_json& value) {
      const bool nested = value.type() == json::raw_json::kind::object;
      all += (all.empty() ? "" : ", ") + std::string(key) + (nested ? " (" : " ") + value_text(value) +
             (nested ? ")" : "");
    });
  return all;
}

std::string elements_of(const json::raw_json& array) {
  std::string all;
  json::for_each_element(array, [&](const json::raw_json& element) {
    all += (all.empty() ? "" : "; ") + value_text(element);
    return true;
  });
  return all;
}

std::string value_text(const json::raw_json& value) {
  const auto kind = value.type();
  if (kind != json::raw_json::kind::object && kind != json::raw_json::kind::array)
    return value.as_string().value_or(std::string(value.text()));
  auto words = kind == json::raw_json::kind::object ? members_of(value) : elements_of(value);
  return words.empty() ? "none" : words;
}

// Returns "open requests" for `openRequests`.
std::string spaced(std::string_view key) {
  std::string words;
  for (const char c : key) {
    if (std::isupper(static_cast<unsigned char>(c))) words += ' ';
    words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

// Returns "3 open" for a member `open`, "2.5 MiB owned" for `ownedBytes`, "0: 2" for a number as the key.
std::string number_in_words(std::string_view key, std::int64_t value) {
  if (!key.empty() && std::isdigit(static_cast<unsigned char>(key.front())))
    return std::string(key) + ": " + std::to_string(value);
  if (key.ends_with("Bytes")) return bytes_in_words(value) + " " + spaced(key.substr(0, key.size() - 5));
  if (key.ends_with("Ms")) return duration_in_words(value) + " " + spaced(key.substr(0, key.size() - 2));
  std::string words = spaced(key);
  if (value == 1 && words.ends_with('s')) words.pop_back();
  return std::to_string(value) + " " + words;
}

std::string fact_of(const json::raw_json& value) {
  const auto members = json::raw_object::open(value);
  if (!members) return value_text(value);
  std::string all;
  members->for_each([&](std::string_view key, const json::raw_json& member) {
    std::string part;
    const bool nested = member.is_object() || member.is_array();
    if (const auto number = member.as_integer())
      part = *number == 0 ? "" : number_in_words(key, *number);
    else if (auto words = fact_of(member); !nested)
      part = spaced(key) + " " + words;
    else if (words != "none")
      part = spaced(key) + " (" + words + ")";
    if (!part.empty()) all += (all.empty() ? "" : ", ") + part;
  });
  return all.empty() ? "none" : all;
}

// Returns the object without one of its members.
json::raw_json without(const json::raw_json& object, std::string_view left_out) {
  std::string json = "{";
  if (const auto members = json::raw_object::open(object))
    members->for_each([&](std::string_view key, const json::raw_json& value) {
      if (key == left_out) return;
      json.append(json.size() > 1 ? "," : "").append(json::json_quoted(key)).append(":").append(value.text());
    });
  return json::raw_json::own(json + "}");
}

// Returns the problem of the journal with the time of its beginning.
std::string trouble_of_store(const json::raw_json& store) {
  const auto since = json::find_member(store, "sinceMs").as_integer();
  return (since ? "not written since " + date_of(*since) + " UTC: " : "") + json::member_text(store, "problem");
}

}  // namespace

terminals::fitted_table status_facts(const json::raw_json& status) {
  terminals::fitted_table table({{""}, {""}});
  table.wrap_last();
  const auto add = [&](std::string what, std::string value, terminals::look how = terminals::look::plain) {
    table.add({{terminals::fitted_table::cell(std::move(what), terminals::look::dim), {std::move(value), how}}});
  };
  const auto uptime = json::find_member(status, "uptimeMs").as_integer();
  add("daemon", "version " + json::member_text(status, "version") + ", pid " +
                    std::string(json::find_member(status, "pid").text()) +
                    (uptime ? ", for " + duration_in_words(*uptime) : ""));
  static constexpr std::array<std::string_view, 4> told{"version", "protocol", "pid", "uptimeMs"};
  if (const auto members = json::raw_object::open(status))
    members->for_each([&](std::string_view key, const json::raw_json& value) {
      if (std::ranges::find(told, key) != told.end()) return;
      if (key == "store") return add("store", trouble_of_store(value), terminals::look::red);
      add(spaced(key), key == "servers" ? fact_of(without(value, "faulty")) : fact_of(value));
      if (key != "servers") return;
      json::for_each_element(json::find_member(value, "faulty"), [&](const json::raw_json& server) {
        const std::string why = json::member_text(server, "lastError");
        add("",
            json::member_text(server, "name") + ", " + json::member_text(server, "state") +
                (why.empty() ? "" : ": " + why),
            terminals::look::red);
        return true;
      });
    });
  return table;
}

std::vector<std::vector<std::string>> status_rows(const json::raw_json& status) {
  std::vector<std::vector<std::string>> rows;
  if (const auto object = json::raw_object::open(status))
    object->for_each([&](std::string_view key, const json::raw_json& value) {
      rows.push_back({std::string(key), value_text(value)});
    });
  return rows;
}

std::string trouble_of(const json::raw_json& server) {
  std::string why = error_with_time(server);
  const json::raw_json next = json::find_member(server, "nextTryMs");
  if (!why.empty() && next && !next.is_null() && next.text() != "-1")
    why += " (next try in " + std::string(next.text()) + " ms)";
  return std::string(cut_utf8(why, 160));
}

}  // namespace mcpbx::cli::text
