// Builds the tree from libyaml's events by recursive descent over at most 64 levels. Plain scalars are resolved by the
// core schema (YAML 1.2.2, section 10.3.2): `yes` and `no` are texts.
#include "conf/hosts/read/yaml_text.hpp"

#include <yaml.h>

#include <charconv>
#include <cmath>
#include <new>
#include <set>
#include <string>

namespace mcpbx::conf::read {
namespace {

class yaml_reader {
 public:
  yaml_reader(std::string_view text, std::uint32_t file, std::string_view name,
              std::vector<documents::diagnostic>& errors)
      : file_(file), name_(name), errors_(errors) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  ~yaml_reader() {
    if (held_) yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  yaml_reader(const yaml_reader&) = delete;
  yaml_reader& operator=(const yaml_reader&) = delete;

  documents::node document() {
    documents::node root;
    root.type = documents::node::kind::object;
    root.at = {file_, 1, 1};
    next();  // the start of the stream
    next();
    if (wrong_ || event_.type == YAML_STREAM_END_EVENT) return root;
    next();
    root = value(0);
    if (wrong_) return root;
    if (root.is(documents::node::kind::null)) root.type = documents::node::kind::object;
    next();  // the end of the document
    next();
    if (!wrong_ && event_.type != YAML_STREAM_END_EVENT) error(here(), "a second document", "keep one document a file");
    return root;
  }

 private:
  documents::place here() const { return spot(event_.start_mark); }
  documents::place spot(const yaml_mark_t& mark) const {
    return {file_, static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
  }

  void error(const documents::place& at, std::string what, std::string mend) {
    if (!wrong_) errors_.push_back({std::string(name_), at.line, at.column, std::move(what), "", std::move(mend)});
    wrong_ = true;
  }

  void next() {
    if (wrong_) return;
    if (held_) yaml_event_delete(&event_);
    held_ = yaml_parser_parse(&parser_, &event_) != 0;
    if (held_) return;
    const std::string why = parser_.problem != nullptr ? parser_.problem : "no memory";
    error(spot(parser_.problem_mark), "this is not YAML: " + why, "mend it in the program that it belongs to");
  }

  /// Reads the value that begins with the present event, and leaves its last event as the present one.
  documents::node value(int depth) {
    documents::node n;
    if (wrong_) return n;
    n.at = here();
    if (depth > documents::max_jsonc_depth) {
      error(n.at, "nested deeper than 64 levels", "flatten it");
      return n;
    }
    switch (event_.type) {
      case YAML_SCALAR_EVENT:
        if (refuses(event_.data.scalar.anchor, event_.data.scalar.tag)) return n;
        return scalar();
      case YAML_SEQUENCE_START_EVENT:
        if (refuses(event_.data.sequence_start.anchor, event_.data.sequence_start.tag)) return n;
        n.type = documents::node::kind::array;
        for (next(); !wrong_ && event_.type != YAML_SEQUENCE_END_EVENT; next()) n.items.push_back(value(depth + 1));
        return n;
      case YAML_MAPPING_START_EVENT:
        if (refuses(event_.data.mapping_start.anchor, event_.data.mapping_start.tag)) return n;
        n.type = documents::node::kind::object;
        members(n, depth);
        return n;
      case YAML_ALIAS_EVENT:
        error(n.at, "an alias (*NAME), which mcpbx does not follow", "write the value itself");
        return n;
      default:
        error(n.at, "a value is expected here", "write it, or take the key out");
        return n;
    }
  }

  void members(documents::node& n, int depth) {
    std::set<std::string, std::less<>> seen;
    for (next(); !wrong_ && event_.type != YAML_MAPPING_END_EVENT; next()) {
      documents::node_member m;
      m.at = here();
      if (event_.type != YAML_SCALAR_EVENT)
        return error(m.at, "a key that is no text", "write a name in front of the colon");
      if (refuses(event_.data.scalar.anchor, event_.data.scalar.tag)) return;
      m.key = text();
      if (!seen.insert(m.key).second) return error(m.at, "this key stands twice", "take one of the two out");
      if (m.key == "<<")
        return error(m.at, "a merge key (<<), which mcpbx does not follow", "write the values themselves");
      next();
      m.value = value(depth + 1);
      if (!wrong_) n.members.push_back(std::move(m));
    }
  }

  bool refuses(const unsigned char* anchor, const unsigned char* tag) {
    if (anchor != nullptr) {
      error(here(), "an anchor (&NAME), which mcpbx does not follow", "write the value itself where it is needed");
      return true;
    }
    const std::string_view name = tag != nullptr ? reinterpret_cast<const char*>(tag) : "";
    if (name.empty() || name.starts_with("tag:yaml.org,2002:")) return false;
    error(here(), "a tag (!NAME), which mcpbx does not know", "take it out");
    return true;
  }

  std::string text() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

  documents::node scalar() {
    documents::node n;
    n.at = here();
    n.text = text();
    n.type = documents::node::kind::string;
    if (n.text.find('\0') != n.text.npos) {
      error(n.at, "a NUL character stands in a text", "take it out");
      return n;
    }
    const std::string_view tag =
        event_.data.scalar.tag != nullptr ? reinterpret_cast<const char*>(event_.data.scalar.tag) : "";
    if (tag == YAML_STR_TAG || event_.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return n;
    const std::string_view t = n.text;
    if (t.empty() || t == "~" || t == "null" || t == "Null" || t == "NULL")
      n.type = documents::node::kind::null;
    else if (t == "true" || t == "True" || t == "TRUE" || t == "false" || t == "False" || t == "FALSE")
      n.type = documents::node::kind::boolean, n.truth = t[0] == 't' || t[0] == 'T';
    else
      number(n);
    if (n.type != documents::node::kind::string) n.text.clear();
    return n;
  }

  static void number(documents::node& n) {
    std::string_view t = n.text;
    if (t.starts_with('+')) t.remove_prefix(1);
    if (t.empty() || (t[0] != '-' && t[0] != '.' && (t[0] < '0' || t[0] > '9'))) return;
    const auto* end = t.data() + t.size();
    if (const auto whole = std::from_chars(t.data(), end, n.whole); whole.ec == std::errc() && whole.ptr == end) {
      n.type = documents::node::kind::integer;
      n.real = static_cast<double>(n.whole);
      return;
    }
    n.whole = 0;
    const auto real = std::from_chars(t.data(), end, n.real);
    if (real.ec != std::errc() || real.ptr != end || !std::isfinite(n.real)) {
      n.real = 0;
      return;
    }
    n.type = documents::node::kind::number;
    if (n.real == std::floor(n.real) && std::fabs(n.real) < 9e15) {
      n.type = documents::node::kind::integer;
      n.whole = static_cast<std::int64_t>(n.real);
    }
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool held_ = false, wrong_ = false;
  std::uint32_t file_;
  std::string_view name_;
  std::vector<documents::diagnostic>& errors_;
};

}  // namespace

documents::node yaml_tree(std::string_view text, std::uint32_t file, std::string_view name,
                          std::vector<documents::diagnostic>& errors) {
  return yaml_reader(text, file, name, errors).document();
}

}  // namespace mcpbx::conf::read
