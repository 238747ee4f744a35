// Everything that has no place in a file is given one: values from elsewhere are trees of further files, whose names
// are the words for their origin.
#include "conf/show/config_view.hpp"

#include "conf/document/jsonc.hpp"
#include "conf/document/merge.hpp"
#include "conf/edit/literal_secrets.hpp"
#include "conf/hosts/host_adopt.hpp"
#include "conf/model/spec.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::conf::show {
namespace {

constexpr std::string_view of_default = "default", of_environment = "environment", of_command = "command line";

/// Returns the entries that hold without the key `models`, as the text of a file.
std::string text_of_models(const std::vector<model::model_entry>& models,
                           const std::optional<std::string>& default_model) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().key("models").begin_object();
  for (const auto& m : models) {
    w.key(m.name).begin_object().member("api", loop::to_string(m.api.value_or(model::model_api::rehearsal)));
    const auto text = [&](std::string_view key, const std::optional<model::reference_string>& value) {
      if (value) w.member(key, value->text);
    };
    text("model", m.model);
    text("baseUrl", m.base_url);
    text("apiKey", m.api_key);
    w.end_object();
  }
  w.end_object();
  if (default_model) w.member("defaultModel", *default_model);
  w.end_object();
  return json;
}

/// Writes the document and its origins side by side.
class viewer {
 public:
  viewer(const std::vector<std::string>& names, std::size_t real_files) : names_(names), real_files_(real_files) {}

  std::string view(const documents::node& root) {
    section(&root, model::root_section(), "", level::top);
    std::string json;
    json::json_writer w(json);
    w.begin_object().key("config").token(edit::masked(out_, edit::text_of::configuration));
    w.key("origins").begin_object();
    for (const auto& [path, origin] : origins_) w.member(path, origin);
    w.end_object().end_object();
    return json;
  }

 private:
  /// Levels that differ in the defaults that are shown: those of entries, of the top and its sections, and none where
  /// another level decides.
  enum class level : std::uint8_t { top, top_section, entry, inner };

  std::string origin_of(const documents::place& at) const {
    const auto& name = names_.at(std::min<std::size_t>(at.file, names_.size() - 1));
    if (at.file >= real_files_) return name;
    return name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  }

  void key(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_.append(json::json_quoted(name)).append(":");
  }

  void leaf(std::string_view name, std::string_view json, const std::string& path, std::string origin) {
    key(name);
    out_ += json;
    origins_.emplace_back(path, std::move(origin));
  }

  void section(const documents::node* n, const model::section_spec& spec, const std::string& path, level at) {
    out_ += '{';
    if (n)
      for (const auto& m : n->members)
        if (const auto* k = spec.find(m.key)) member(*k, m, documents::member_path(path, m.key), at);
    if (at != level::inner)
      for (const auto& k : spec.keys)
        if (!n || !n->find(k.name)) missing(k, documents::member_path(path, k.name), at);
    out_ += '}';
  }

  void member(const model::key_spec& k, const documents::node_member& m, const std::string& path, level at) {
    if (k.kind == model::shape::section && m.value.is(documents::node::kind::object)) {
      key(k.name);
      section(&m.value, *k.inner, path, at == level::top ? level::top_section : level::inner);
    } else if (k.kind == model::shape::named && m.value.is(documents::node::kind::object)) {
      key(k.name);
      out_ += '{';
      for (const auto& entry : m.value.members) named(k, entry, documents::member_path(path, entry.key));
      out_ += '}';
    } else {
      leaf(k.name, documents::json_of(m.value), path, origin_of(m.value.at));
    }
  }

  void named(const model::key_spec& k, const documents::node_member& m, const std::string& path) {
    key(m.key);
    const bool with_defaults = k.name != "profiles";  // their settings come from the top where they say nothing
    if (!k.inner->server_entry) return section(&m.value, *k.inner, path, with_defaults ? level::entry : level::inner);
    auto entry = m.value;
    const auto quiet = [](const documents::place&, const std::string&, const std::string&, const std::string&) {};
    hosts::adopt_host_keys(entry, m.key, path, {quiet, quiet});
    section(&entry, *k.inner, path, level::entry);
  }

  void missing(const model::key_spec& k, const std::string& path, level at) {
    if (k.kind == model::shape::section && at == level::top) {
      key(k.name);
      section(nullptr, *k.inner, path, level::top_section);
    } else if (!k.inner && !k.default_json.empty()) {
      leaf(k.name, k.default_json, path, std::string(of_default));
    }
  }

  const std::vector<std::string>& names_;
  std::size_t real_files_;
  std::string out_;
  std::vector<std::pair<std::string, std::string>> origins_;
};

}  // namespace

std::string config_view(std::span<const source_text> files, const environment& env,
                        std::span<const view_override> overrides) {
  std::vector<std::string> names;
  std::vector<documents::diagnostic> ignored;
  documents::node merged;
  merged.type = documents::node::kind::object;
  const auto take = [&](std::string_view text, std::string_view name) {
    auto tree = documents::parse_jsonc(text, static_cast<std::uint32_t>(names.size()), name, ignored);
    names.emplace_back(name);
    return tree;
  };
  for (const auto& file : files) documents::merge(merged, take(file.text, file.name));
  const auto real_files = names.size();
  if (files.empty())
    documents::merge(merged, take(R"({"mcpServers":{"toolbox":{"command":"mcpbx-toolbox"}}})", of_default));
  // The files win over these, so they are the ones to be merged into.
  const auto below = [&](documents::node tree) {
    documents::merge(tree, std::move(merged));
    merged = std::move(tree);
  };
  if (!merged.find("models")) {
    model::configuration standing_in;
    add_environment_models(standing_in, env);
    if (!standing_in.models.empty())
      below(take(text_of_models(standing_in.models, standing_in.default_model), of_environment));
  }
  if (const auto* models = merged.find("models"); !models || !models->value.find("demo"))
    documents::merge(merged, take(R"({"models":{"demo":{"api":"rehearsal"}}})", of_default));
  for (const auto& o : overrides) {
    std::string json = o.json;
    for (auto i = o.path.size(); i > 0; --i) json = "{" + json::json_quoted(o.path[i - 1]) + ":" + json + "}";
    documents::merge(merged, take(json, of_command));
  }
  return viewer(names, real_files).view(merged);
}

}  // namespace mcpbx::conf::show
