// Translation of other hosts' keys, one function per kind of key. The results are collected first and written into the
// entry at the end.
#include "conf/hosts/host_adopt.hpp"

#include "conf/hosts/host_keys.hpp"
#include "conf/model/key_words.hpp"
#include "conf/model/spec.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::conf::hosts {
namespace {

constexpr std::string_view nothing_to_do = "nothing needs to be done";
constexpr std::array<std::string_view, 11> tool_keys{
    "allow",    "deny",    "rename",  "serial", "retry", "callTimeoutMs", "callHardTimeoutMs",
    "disabled", "enabled", "include", "exclude"};
constexpr std::size_t our_tool_keys = 7;  // the first of tool_keys; the rest are common misnomers for them

documents::node text_node(std::string text, const documents::place& at) {
  documents::node n;
  n.type = documents::node::kind::string;
  n.text = std::move(text);
  n.at = at;
  return n;
}

/// Returns true for null, false and empty values.
bool says_nothing(const documents::node& n) {
  switch (n.type) {
    case documents::node::kind::null:
      return true;
    case documents::node::kind::boolean:
      return !n.truth;
    case documents::node::kind::string:
      return n.text.empty();
    case documents::node::kind::array:
      return n.items.empty();
    case documents::node::kind::object:
      return n.members.empty();
    default:
      return false;
  }
}

class adopter {
 public:
  adopter(documents::node& entry, std::string_view server, const std::string& path, const finding_sink& sink)
      : entry_(entry), server_(server), path_(path), sink_(sink) {}

  void run() {
    auto members = std::exchange(entry_.members, {});
    for (auto& m : members) {
      if (m.key == "tools")
        read_tools(m);
      else if (const auto* k = find_host_key(m.key))
        read(*k, m);
      else
        entry_.members.push_back(std::move(m));
    }
    write_off();
    write_transport();
    write_tools();
    write_list(entry_, "approve", std::move(ask_));
  }

 private:
  void error(const documents::node_member& m, std::string what, std::string mend) {
    sink_.error(m.value.at, std::move(what), documents::member_path(path_, m.key), std::move(mend));
  }
  void notice(const documents::node_member& m, std::string what, std::string_view mend = nothing_to_do) {
    sink_.notice(m.at, std::move(what), documents::member_path(path_, m.key), std::string(mend));
  }

  /// Reports a key that acts here.
  void taken(const documents::node_member& m, std::string what) {
    const auto& say = sink_.taken ? sink_.taken : sink_.notice;
    say(m.at, std::move(what), documents::member_path(path_, m.key), std::string(nothing_to_do));
  }

  void read(const host_key& k, documents::node_member& m) {
    if (m.value.is(documents::node::kind::broken)) return;
    switch (k.act) {
      case host_act::quiet:
        return;
      case host_act::hint:
        return notice(m, "this key of other hosts has no effect here", k.words);
      case host_act::off_when_false:
        return read_switch(m, true);
      case host_act::off_when_true:
        return read_switch(m, false);
      case host_act::deny:
        if (auto names = read_names(m, m.value)) {
          if (!names->empty()) taken(m, "is taken for \"tools.deny\"");
          add(deny_, std::move(*names));
        }
        return;
      case host_act::allow:
        return read_allow(m, m.value);
      case host_act::ask_for:
        if (auto names = read_names(m, m.value)) {
          if (!names->empty()) taken(m, "is taken for \"approve\"");
          add(ask_, std::move(*names));
        }
        return;
      case host_act::ask_by_word:
        return read_asking_word(m, "*");
      case host_act::transport_word:
        return words_.push_back(std::move(m));
      case host_act::ask_unless_true:
        if (!m.value.is(documents::node::kind::boolean))
          return error(m, "must be true or false, not " + std::string(documents::words_for(m.value.type)),
                       "name the tools that need a yes in \"approve\", or take the key out");
        if (m.value.truth) return never_asks(m);
        taken(m, "is taken for \"approve\": [\"*\"]");
        return ask_.push_back(text_node("*", m.value.at));
      case host_act::never_ask:
        return says_nothing(m.value) ? void() : never_asks(m);
      case host_act::refuse:
        if (!says_nothing(m.value)) error(m, "restricts the server in a way that mcpbx cannot", std::string(k.words));
        return;
      case host_act::refuse_false:
        if (!m.value.is(documents::node::kind::boolean) || !m.value.truth)
          error(m, "restricts the server in a way that mcpbx cannot", std::string(k.words));
        return;
    }
  }

  void never_asks(const documents::node_member& m) {
    notice(m, "loosens nothing here: mcpbx asks for the tools that \"approve\" names, and for no others");
  }

  void read_switch(const documents::node_member& m, bool on) {
    if (!m.value.is(documents::node::kind::boolean))
      return error(m, "must be true or false, not " + std::string(documents::words_for(m.value.type)),
                   "write \"disabled\": true to switch the server off, or take the key out");
    if (m.value.truth == on) return;
    taken(m, "switches the server off, like \"disabled\": true");
    off_ = m.value.at;
  }

  void read_asking_word(const documents::node_member& m, const std::string& tool) {
    static constexpr std::array<std::string_view, 3> asks{"prompt", "always", "once"},
        silent{"approve", "auto", "never"};
    const auto is_one_of = [&](const auto& words) {
      return m.value.is(documents::node::kind::string) && std::ranges::find(words, m.value.text) != words.end();
    };
    if (is_one_of(silent)) return never_asks(m);
    if (!is_one_of(asks))
      return error(m, "must be one of \"prompt\", \"always\", \"once\", \"approve\", \"auto\", \"never\"",
                   "name the tools that need a yes in \"approve\", or take the key out");
    taken(m, "is taken for \"approve\": [\"" + tool + "\"]");
    ask_.push_back(text_node(tool, m.value.at));
  }

  /// Returns the exact names in a list, without a host's prefix; nullopt after an error.
  std::optional<std::vector<documents::node>> read_names(const documents::node_member& m, const documents::node& list) {
    const std::string mend = "write a list of the tools' names, or \"tools\": {\"allow\": […], \"deny\": […]}";
    if (!list.is(documents::node::kind::array)) {
      error(m, "must be a list of strings, not " + std::string(documents::words_for(list.type)), mend);
      return std::nullopt;
    }
    bool good = !list.damaged;
    std::vector<documents::node> names;
    for (const auto& i : list.items) {
      if (i.is(documents::node::kind::broken)) {
        good = false;
      } else if (!i.is(documents::node::kind::string) || i.text.empty()) {
        error(m, "must be a list of names", mend);
        good = false;
      } else {
        auto name = i;
        if (const auto bracket = name.text.find('('); bracket != name.text.npos && bracket != 0) {
          notice(m, "names a tool with arguments; the whole tool is meant here");
          name.text.resize(bracket);
        }
        constexpr std::string_view mark = "_1mcp_";
        if (const auto prefix = name.text.find(mark);
            prefix != name.text.npos && name.text.size() > prefix + mark.size())
          name.text.erase(0, prefix + mark.size());
        // Hosts show tools as "mcp__SERVER__TOOL", so people copy that name too.
        for (const std::string_view head : {"mcp__", ""})
          if (const auto shown = std::string(head) + std::string(server_) + "__";
              name.text.starts_with(shown) && name.text.size() > shown.size())
            names.push_back(text_node(name.text.substr(shown.size()), name.at));
        names.push_back(std::move(name));
      }
    }
    return good ? std::optional(std::move(names)) : std::nullopt;
  }

  void read_allow(const documents::node_member& m, const documents::node& list) {
    if (list.is(documents::node::kind::array))
      for (const auto& i : list.items)
        if (i.is(documents::node::kind::string) && i.text.find('(') != i.text.npos && i.text.front() != '(')
          return error(m, "allows a tool with certain arguments only, which cannot be kept here",
                       "write the tool's name alone to allow it with all of them, or take it out of the list");
    auto names = read_names(m, list);
    if (!names) return;
    if (names->empty())
      return error(m, "an empty list offers no tool in some programs and all of them in others",
                   "write \"tools\": {\"deny\": [\"*\"]} to offer none, or take the key out to offer all");
    for (const auto& n : *names)
      if (n.text.find_first_of("*?") != n.text.npos)
        return error(m, "has a pattern among its names, which is one in some programs only",
                     "write \"tools\": {\"allow\": [\"PATTERN\"]}, where * and ? stand for any characters");
    taken(m, "is taken for \"tools.allow\": only these tools are offered");
    if (!allow_) {
      allow_ = std::move(names);
      return;
    }
    std::erase_if(*allow_, [&](const documents::node& n) {
      return std::ranges::find(*names, n.text, &documents::node::text) == names->end();
    });
    notice(m, "is one of several lists of the tools that are offered; only what stands in all of them is",
           "write \"tools\": {\"allow\": […]} alone");
  }

  /// Reads `tools`: a list of names, our own object, or an object with a switch or an object for each tool.
  void read_tools(documents::node_member& m) {
    if (m.value.is(documents::node::kind::array)) {
      const auto& items = m.value.items;
      if (items.size() == 1 && items[0].is(documents::node::kind::string) && items[0].text == "*" && !m.value.damaged)
        return;
      return read_allow(m, m.value);
    }
    if (!m.value.is(documents::node::kind::object)) {
      entry_.members.push_back(std::move(m));
      return;
    }
    std::vector<std::string> on;
    auto members = std::exchange(m.value.members, {});
    for (auto& t : members) {
      const bool is_switch = t.value.is(documents::node::kind::boolean) || t.value.is(documents::node::kind::object);
      // A key of ours, or one that was meant to be: checked as such. Its value says which where a tool has its name.
      const auto ours = std::span(tool_keys).first(our_tool_keys);
      if (!is_switch || std::ranges::find(ours, t.key) != ours.end() || !meant_key(t.key, tool_keys).empty())
        m.value.members.push_back(std::move(t));
      else if (t.value.is(documents::node::kind::object))
        read_tool(m, t);
      else if (t.value.truth)
        on.push_back(t.key);
      else
        deny_.push_back(text_node(t.key, t.at));
    }
    for (const auto& name : on)
      if (std::ranges::any_of(deny_, [&](const documents::node& d) { return glob_match(d.text, name); }))
        return error(m, "switches the tool " + std::string(cut_utf8(name, 64)) + " on and off at once",
                     "write \"tools\": {\"allow\": […], \"deny\": […]}, where deny wins");
    entry_.members.push_back(std::move(m));
  }

  /// Reads the object of one tool: its switch, its name, its approval.
  void read_tool(const documents::node_member& tools, const documents::node_member& t) {
    for (const auto& inner : t.value.members) {
      const auto path =
          documents::member_path(documents::member_path(documents::member_path(path_, tools.key), t.key), inner.key);
      if (inner.key == "enabled" && inner.value.is(documents::node::kind::boolean)) {
        if (!inner.value.truth) deny_.push_back(text_node(t.key, t.at));
      } else if (inner.key == "name" && inner.value.is(documents::node::kind::string)) {
        if (inner.value.text != t.key) rename_.push_back({t.key, t.at, inner.value});
      } else if (inner.key == "approval_mode") {
        read_asking_word(inner, t.key);
      } else if (inner.key == "description" || inner.key == "title") {
        sink_.notice(inner.at, "this key of other hosts has no effect here", path, "the server's own words are shown");
      } else {
        sink_.error(inner.at, "unknown key of a tool", path,
                    "write \"tools\": {\"allow\": […], \"deny\": […], \"rename\": {…}}, or take the key out");
      }
    }
  }

  static void add(std::vector<documents::node>& to, std::vector<documents::node> more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  /// Returns the member `key` of `object`, and adds it with the type `type` if it is missing. Null: another type.
  static documents::node* member_of(documents::node& object, std::string_view key, documents::node::kind type) {
    if (auto* m = object.find(key)) return m->value.is(type) ? &m->value : nullptr;
    documents::node made;
    made.type = type;
    made.at = object.at;
    return &object.members.emplace_back(documents::node_member{std::string(key), object.at, std::move(made)}).value;
  }

  static void write_list(documents::node& object, std::string_view key, std::vector<documents::node> items) {
    if (items.empty()) return;
    if (auto* list = member_of(object, key, documents::node::kind::array)) add(list->items, std::move(items));
  }

  void write_off() {
    if (!off_) return;
    if (auto* m = entry_.find("disabled"); m && m->value.is(documents::node::kind::boolean) && !m->value.truth) {
      sink_.notice(m->at, "another key of this entry switches the server off, and the stricter one holds",
                   documents::member_path(path_, "disabled"), "take one of the two out");
      m->value.truth = true;
    } else if (!m) {
      documents::node yes;
      yes.type = documents::node::kind::boolean;
      yes.truth = true;
      yes.at = *off_;
      entry_.members.push_back({"disabled", *off_, std::move(yes)});
    }
  }

  /// Compares the words for the transport with command and url. Writes "transport": "sse" if one of them means
  /// HTTP+SSE.
  void write_transport() {
    static constexpr std::array<std::string_view, 2> local{"stdio", "local"};
    static constexpr std::array<std::string_view, 3> either{"auto", "remote", ""};
    static constexpr std::array<std::string_view, 2> http{"http", "streamablehttp"};
    const auto says = [&](std::string_view key) {
      const auto* m = entry_.find(key);
      return m && !says_nothing(m->value);
    };
    std::optional<std::pair<bool, documents::place>> events;  // true: HTTP+SSE
    for (documents::node_member& m : words_) {
      // Our own key has the words auto, http and sse, and is checked as such.
      const bool ours = m.key == "transport";
      if (ours && (!m.value.is(documents::node::kind::string) || m.value.text.empty() || m.value.text == "auto" ||
                   m.value.text == "http")) {
        if (m.value.text == "http") events = {false, m.value.at};
        entry_.members.push_back(std::move(m));
        continue;
      }
      if (m.value.is(documents::node::kind::null) || m.value.is(documents::node::kind::broken)) continue;
      if (!m.value.is(documents::node::kind::string)) {
        error(m, "must be a word, not " + std::string(documents::words_for(m.value.type)),
              "write its members into the entry itself, or take the key out");
        continue;
      }
      std::string word;
      for (const char c : m.value.text.substr(0, 64))
        if (c != '-' && c != '_') word += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
      const auto is_one_of = [&](const auto& words) { return std::ranges::find(words, word) != words.end(); };
      const bool wants_program = is_one_of(local);
      if (!wants_program && !is_one_of(either) && !is_one_of(http) && word != "sse") {
        error(m, "must be one of \"stdio\", \"http\", \"sse\", which are the transports that mcpbx speaks",
              "take the key out: command or url says enough");
      } else if (wants_program && says("url") && !says("command")) {
        error(m, "says that the server is a program, and it has a url", "take the key out, or give a command");
      } else if (!ours && !wants_program && word != "auto" && !word.empty() && says("command") && !says("url")) {
        error(m, "says that the server has an address, and it has a command", "take the key out, or give a url");
      } else if (word == "sse" || is_one_of(http)) {
        const bool sse = word == "sse";
        if (events && events->first != sse)
          error(m, "contradicts another key of this entry that names the transport", "take one of the two out");
        events = {sse, m.value.at};
      }
    }
    if (events && events->first && !entry_.find("transport"))
      entry_.members.push_back({"transport", events->second, text_node("sse", events->second)});
  }

  void write_tools() {
    if (!allow_ && deny_.empty() && rename_.empty()) return;
    auto* tools = member_of(entry_, "tools", documents::node::kind::object);
    if (!tools) return;  // of the wrong type, which the check of the entry reports
    if (allow_) narrow(*tools);
    write_list(*tools, "deny", std::move(deny_));
    if (rename_.empty()) return;
    if (auto* names = member_of(*tools, "rename", documents::node::kind::object))
      for (auto& r : rename_)
        if (!names->find(r.key)) names->members.push_back(std::move(r));
  }

  /// Narrows our list of allowed names to those that the other host's list allows too.
  void narrow(documents::node& tools) {
    if (const auto* ours = tools.find("allow"); ours && ours->value.is(documents::node::kind::array)) {
      sink_.notice(ours->at, "another key of this entry lists tools too; what both offer is offered",
                   documents::member_path(documents::member_path(path_, "tools"), "allow"), "take one of the two out");
      std::erase_if(*allow_, [&](const documents::node& n) {
        return std::ranges::none_of(ours->value.items,
                                    [&](const documents::node& g) { return glob_match(g.text, n.text); });
      });
      if (ours->value.items.empty()) return;  // the check of the entry reports an empty list
    }
    if (allow_->empty()) return deny_.push_back(text_node("*", tools.at));
    if (auto* list = member_of(tools, "allow", documents::node::kind::array)) list->items = std::move(*allow_);
  }

  documents::node& entry_;
  std::string_view server_;
  const std::string& path_;
  const finding_sink& sink_;
  std::optional<documents::place> off_;
  std::vector<documents::node> deny_, ask_;
  std::vector<documents::node_member> words_;  // names of transports
  std::optional<std::vector<documents::node>> allow_;
  std::vector<documents::node_member> rename_;
};

}  // namespace

void adopt_host_keys(documents::node& entry, std::string_view name, const std::string& path, const finding_sink& sink) {
  adopter(entry, name, path, sink).run();
}

}  // namespace mcpbx::conf::hosts
