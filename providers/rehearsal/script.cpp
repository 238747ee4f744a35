// Reads scripts and fills in their marks.
#include "providers/rehearsal/script.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/json/json_walk.hpp"

#include <charconv>

namespace mcpbx::providers::rehearsal {
namespace {

std::string value_of(std::string_view mark, std::string_view question, const std::vector<std::string>& results) {
  if (mark == "question") return std::string(question);
  if (!mark.starts_with("result.")) return {};
  mark.remove_prefix(7);
  std::size_t n = 0;
  const auto [end, ec] = std::from_chars(mark.data(), mark.data() + mark.size(), n);
  if (ec != std::errc() || n == 0 || n > results.size()) return {};
  std::string_view text = results[n - 1];
  auto path = mark.substr(static_cast<std::size_t>(end - mark.data()));
  if (path.empty()) return std::string(text);
  if (json::check_json(text, 64) != json::json_scanner::fault::none) return {};
  while (path.starts_with('.')) {
    path.remove_prefix(1);
    const auto key = path.substr(0, path.find('.'));
    path.remove_prefix(key.size());
    std::size_t index = 0;
    if (json::walk::is_array(text) && std::from_chars(key.data(), key.data() + key.size(), index).ec == std::errc()) {
      std::string_view element;
      json::walk::elements(text, [&, i = std::size_t{0}](std::string_view e) mutable {
        if (i++ == index) element = e;
      });
      text = element;
    } else {
      text = json::walk::find(text, key);
    }
  }
  return json::walk::is_string(text) ? json::unescaped(text) : std::string(text);
}

}  // namespace

result<std::shared_ptr<const script>> read_script(std::string_view json) {
  auto root = json::raw_json::parse(json);
  if (!root) return fail(errc::config, "The rehearsal's script is not JSON: " + root.error().message);
  const auto list = root->is_array() ? *root : json::find_member(*root, "steps");
  if (!list.is_array()) return fail(errc::config, "The rehearsal's script needs a list of steps.");
  auto all = std::make_shared<script>();
  std::string wrong;
  json::for_each_element(list, [&](json::raw_json s) {
    const auto where = "Step " + std::to_string(all->steps.size() + 1) + " of the rehearsal's script ";
    step one;
    one.text = json::find_member(s, "text").as_string().value_or("");
    const auto calls = json::find_member(s, "calls");
    if (!s.is_object() || (one.text.empty() && !calls.is_array())) wrong = where + "needs \"text\" or \"calls\".";
    json::for_each_element(calls, [&](json::raw_json c) {
      step::call call{json::find_member(c, "name").as_string().value_or(""), json::find_member(c, "arguments")};
      if (call.name.empty()) wrong = where + "has a call without a name.";
      if (call.arguments.empty()) call.arguments = json::raw_json::literal("{}");
      if (!call.arguments.is_object()) wrong = where + "has a call whose arguments are no object.";
      one.calls.push_back(std::move(call));
      return wrong.empty();
    });
    all->steps.push_back(std::move(one));
    return wrong.empty();
  });
  if (!wrong.empty()) return fail(errc::config, wrong);
  return all;
}

std::string substitute(std::string_view text, std::string_view question, const std::vector<std::string>& results,
                       bool in_json) {
  std::string out;
  for (;;) {
    const auto at = text.find("{{");
    const auto end = at == std::string_view::npos ? at : text.find("}}", at);
    if (end == std::string_view::npos) return out += text;
    out += text.substr(0, at);
    const auto value = value_of(text.substr(at + 2, end - at - 2), question, results);
    if (in_json) {
      const auto token = json::json_quoted(value);
      out += std::string_view(token).substr(1, token.size() - 2);
    } else {
      out += value;
    }
    text.remove_prefix(end + 2);
  }
}

}  // namespace mcpbx::providers::rehearsal
