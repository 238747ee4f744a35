// Definitions for tools/list, and the tools that need no files: clock and calculator.
#include "daemon/toolbox/toolbox_tools.hpp"

#include "daemon/toolbox/calculator.hpp"
#include "daemon/toolbox/clock.hpp"
#include "mcp/json/json_writer.hpp"

namespace mcpbx::toolbox {
namespace {

std::string words(const local_time& t) {
  return t.iso + " (" + t.weekday + ", " + t.zone + (t.abbreviation == t.zone ? "" : ", " + t.abbreviation) + ")";
}

std::string json_of(const local_time& t) {
  return json::json_object("time", t.iso, "weekday", t.weekday, "timeZone", t.zone, "utcOffset", t.offset,
                           "unixSeconds", t.unix_seconds);
}

result<answer> current_time(const context& c, const arguments& a) {
  const auto zone = a.text("timeZone", "");
  if (!zone) return std::unexpected(zone.error());
  const auto time = time_in_zone(c.wall_ms() / 1000, *zone);
  if (!time) return std::unexpected(time.error());
  return answer{{words(*time)}, json_of(*time)};
}

result<answer> convert_time(const context& c, const arguments& a) {
  const auto text = a.required_text("time");
  if (!text) return std::unexpected(text.error());
  const auto from = a.text("fromTimeZone", "");
  if (!from) return std::unexpected(from.error());
  const auto to = a.required_text("toTimeZone");
  if (!to) return std::unexpected(to.error());
  const auto moment = read_time(*text, *from, c.wall_ms() / 1000);
  if (!moment) return std::unexpected(moment.error());
  const auto source = time_in_zone(moment->unix_seconds, *from);
  if (!source) return std::unexpected(source.error());
  const auto target = time_in_zone(moment->unix_seconds, *to);
  if (!target) return std::unexpected(target.error());
  answer out{{words(*source) + " is " + words(*target)}, json_of(*target)};
  if (!moment->note.empty()) out.texts.push_back(moment->note);
  return out;
}

result<answer> calculate_tool(const context&, const arguments& a) {
  const auto expression = a.required_text("expression");
  if (!expression) return std::unexpected(expression.error());
  const auto value = calculate(*expression);
  if (!value) return std::unexpected(value.error());
  const auto text = value->text();
  return answer{{text}, json::json_object("result", json::raw_json::own(text), "exact", value->is_exact())};
}

constexpr std::string_view time_output =
    R"({"time":{"type":"string","description":"ISO 8601 with offset"},"weekday":{"type":"string"},)"
    R"("timeZone":{"type":"string"},"utcOffset":{"type":"string","description":"Such as +02:00"},)"
    R"("unixSeconds":{"type":"integer","description":"Seconds since 1970-01-01T00:00:00Z"}})";

constexpr tool clock_tools[] = {
    {"current_time", "Current time",
     "Tells the current date, time, weekday and UTC offset, in a time zone or where this computer is.",
     R"({"timeZone":{"type":"string","description":"IANA time zone such as Europe/Berlin; left out: the one of this computer"}})",
     "", time_output, current_time},
    {"convert_time", "Convert a time", "Converts a time from one time zone to another, daylight saving time included.",
     R"({"time":{"type":"string","description":"Such as 2026-07-28T09:30, or 09:30 for today; an offset like +02:00 or Z counts instead of fromTimeZone"},)"
     R"("fromTimeZone":{"type":"string","description":"IANA time zone of the given time; left out: the one of this computer"},)"
     R"("toTimeZone":{"type":"string","description":"IANA time zone to convert to, such as Asia/Tokyo"}})",
     R"(["time","toTimeZone"])", time_output, convert_time},
};

constexpr tool calculators[] = {
    {"calculate", "Calculator",
     "Calculates an arithmetic expression exactly where it can: + - * / % ^ and parentheses; sqrt abs round floor ceil "
     "min "
     "max ln log10 sin cos tan (radians); pi and e.",
     R"({"expression":{"type":"string","description":"Such as (17 + 4) * 2^10 / 3","maxLength":2000}})",
     R"(["expression"])",
     R"({"result":{"type":"number"},"exact":{"type":"boolean","description":"Whether the result is an exact integer"}})",
     calculate_tool},
};

}  // namespace

std::span<const tool> time_tools() {
  return clock_tools;
}
std::span<const tool> arithmetic_tools() {
  return calculators;
}

std::vector<std::string> member_names(std::string_view object) {
  std::vector<std::string> names;
  if (const auto opened = json::raw_object::open(json::raw_json::literal(object)))
    opened->for_each([&names](std::string_view key, const json::raw_json&) { names.emplace_back(key); });
  return names;
}

std::string definition(const tool& t, const folders& files) {
  std::string description(t.description);
  // Names the permitted folders, because a model that does not know them guesses.
  if (t.properties.find("\"path\"") != std::string_view::npos)
    description += " Folders that can be read: " + files.names() + ".";
  std::string out;
  json::json_writer w(out);
  w.begin_object().members("name", t.name, "title", t.title, "description", description);
  w.key("inputSchema").begin_object().member("type", "object").key("properties").token(t.properties);
  w.given("required", json::raw_json::literal(t.required)).member("additionalProperties", false).end_object();
  if (!t.output_properties.empty()) {
    w.key("outputSchema").begin_object().member("type", "object").key("properties").token(t.output_properties);
    w.list("required", member_names(t.output_properties)).end_object();
  }
  w.key("annotations").begin_object().members("title", t.title, "readOnlyHint", true, "destructiveHint", false);
  w.members("idempotentHint", true, "openWorldHint", false).end_object().end_object();
  return out;
}

}  // namespace mcpbx::toolbox
