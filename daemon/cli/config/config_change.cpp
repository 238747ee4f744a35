// Texts in, texts out: merging and showing a change that is not made yet.
#include "daemon/cli/config/config_change.hpp"

#include "conf/edit/json_edit.hpp"
#include "conf/edit/literal_secrets.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::cli::config {
namespace {

constexpr std::size_t lines_around = 2;

std::vector<std::string> lines_of(const std::optional<std::string>& text) {
  std::vector<std::string> lines;
  if (!text) return lines;
  const auto shown = conf::edit::masked(*text, conf::edit::text_of::configuration);
  for (std::size_t at = 0; at < shown.size();) {
    const auto end = std::min(shown.find('\n', at), shown.size());
    std::string_view line(shown.data() + at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<std::filesystem::path> files_with(const config_place& place, const std::string& name) {
  std::vector<std::filesystem::path> found;
  for (const auto& r : place.read)
    if (const auto entry = conf::edit::member_text(r.text, {"mcpServers", name}, r.path); entry && *entry)
      found.emplace_back(r.path);
  return found;
}

conf::loaded loaded_after(const config_place& place, const std::vector<file_change>& changes,
                          const conf::environment& env) {
  std::vector<conf::source_text> texts;
  for (const auto& r : place.read) texts.push_back({r.path, r.text});
  for (const auto& change : changes) {
    const auto at = std::ranges::find(texts, change.path.native(), &conf::source_text::name);
    if (at != texts.end() && change.after)
      at->text = *change.after;
    else if (at != texts.end())
      texts.erase(at);
    else if (change.after)
      texts.push_back({change.path.native(), *change.after});
  }
  // config.json comes first, then the files of config.d in the order of their names.
  const auto drop_in = [](const conf::source_text& t) {
    return std::filesystem::path(t.name).parent_path().filename() == "config.d";
  };
  std::ranges::sort(texts, {}, [&](const conf::source_text& t) { return std::pair(drop_in(t), t.name); });
  return conf::load(texts, env);
}

std::vector<terminals::diff_line> shown_change(const file_change& change) {
  const auto all = terminals::line_diff(lines_of(change.before), lines_of(change.after));
  std::vector<terminals::diff_line> out;
  std::size_t shown_to = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].mark == ' ') continue;
    const auto from = std::max(shown_to, i - std::min(i, lines_around));
    if (from > shown_to) out.push_back({' ', "…"});
    for (auto k = from; k <= i; ++k) out.push_back(all[k]);
    shown_to = i + 1;
    // Lines behind the last change of a group.
    const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(shown_to), all.end(),
                                   [](const terminals::diff_line& l) { return l.mark != ' '; });
    const auto to = std::min({all.size(), i + 1 + lines_around, static_cast<std::size_t>(next - all.begin())});
    for (; shown_to < to; ++shown_to) out.push_back(all[shown_to]);
  }
  if (!out.empty() && shown_to < all.size()) out.push_back({' ', "…"});
  return out;
}

std::string shown_entry(std::string_view entry) {
  const auto parsed = json::raw_json::parse(conf::edit::masked(entry, conf::edit::text_of::server_entry));
  if (!parsed) return "";
  std::string line = json::find_member(*parsed, "url").as_string().value_or("");
  if (const auto command = json::find_member(*parsed, "command").as_string()) line = shell_word(*command);
  json::for_each_element(json::find_member(*parsed, "args"), [&](const json::raw_json& arg) {
    if (const auto word = arg.as_string()) line += " " + shell_word(*word);
    return true;
  });
  return line;
}

}  // namespace mcpbx::cli::config
