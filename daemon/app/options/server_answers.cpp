// Makes the result of roots/list of each server once for each snapshot of the configuration.
#include "daemon/app/options/server_answers.hpp"

#include "daemon/app/references/system_references.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/percent.hpp"

#include <utility>

namespace mcpbx::daemon::options {
namespace {

json::raw_json roots_of(const conf::model::server_entry& entry, const references::start_values& values,
                        const std::string& home) {
  if (entry.roots.empty()) return {};
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("roots").begin_array();
  for (const auto& root : entry.roots) {
    const auto place = values.value(root.uri);
    if (!place || place->empty()) {
      log::warn("a root of the tool server \"" + entry.name +
                "\" is left out: " + (place ? "it is empty" : place.error().message));
      continue;
    }
    w.begin_object().member("uri", root_uri(*place, home)).filled("name", root.name).end_object();
  }
  w.end_array().end_object();
  return w.json();
}

}  // namespace

std::string root_uri(std::string_view place, std::string_view home) {
  if (place.starts_with("file://")) return std::string(place);
  return "file://" + percent_encoded(conf::model::under_home(place, home), "/!$&'()*+,;=:@");
}

std::vector<answers::server_answers> server_answers_of(const conf::model::configuration& all,
                                                       const references::start_values& values) {
  references::system_references source;
  const auto home = source.env("HOME").value_or("/");
  std::vector<answers::server_answers> answers;
  for (const auto& entry : all.servers) {
    answers::server_answers one{entry.name, std::nullopt, roots_of(entry, values, home)};
    if (const auto& s = entry.sampling) one.sampling = answers::sampling_rule{s->model, s->max_tokens, s->per_minute};
    answers.push_back(std::move(one));
  }
  return answers;
}

}  // namespace mcpbx::daemon::options
