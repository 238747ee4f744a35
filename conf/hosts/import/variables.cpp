// One pass over the text. Each form is read where it begins; anything else is copied.
#include "conf/hosts/import/variables.hpp"

#include "conf/hosts/programs/programs.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mcpbx::conf::imports {
namespace {

namespace form = programs::variable_form;

bool name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool name_part(char c) {
  return name_start(c) || (c >= '0' && c <= '9');
}
bool is_name(std::string_view text) {
  return !text.empty() && name_start(text[0]) && std::ranges::all_of(text, name_part);
}

class translation {
 public:
  translation(std::string_view text, const variable_context& context) : text_(text), context_(context) {}

  translated_text run() {
    while (at_ < text_.size() && !made_.fault)
      if (!variable()) made_.text += text_[at_++];
    return std::move(made_);
  }

 private:
  bool has(unsigned f) const { return (context_.forms & f) != 0; }
  std::string_view rest() const { return text_.substr(at_); }

  bool fault(std::string what, std::string mend) {
    made_.fault = model::reference_fault{std::move(what), std::move(mend)};
    return true;
  }
  /// Writes a reference of ours. A `$` in front of it would turn it into text.
  bool reference(const std::string& inside, std::size_t length) {
    if (made_.text.ends_with('$'))
      return fault("a $ stands in front of a variable, which mcpbx cannot keep apart", "write the value itself");
    made_.text += "${" + inside + "}";
    at_ += length;
    return true;
  }
  bool plain(std::string_view value, std::size_t length) {
    if (made_.text.ends_with('$') && value.starts_with('{'))
      return fault("a $ stands in front of a variable, which mcpbx cannot keep apart", "write the value itself");
    made_.text += value;
    at_ += length;
    return true;
  }

  bool variable() {
    const auto r = rest();
    if (r.starts_with("${{") && has(programs::variable_form::secrets)) return secrets();
    if (r.starts_with("${")) return braces();
    if (r.starts_with("$(") && has(programs::variable_form::shell))
      return fault("$(…) runs a shell command",
                   "write ${cmd:PROGRAM ARGUMENTS} in an entry of your own, which uses no shell");
    if (r.starts_with("$: ") && has(programs::variable_form::shell) && at_ == 0)
      return fault("\"$: …\" runs a shell command",
                   "write ${cmd:PROGRAM ARGUMENTS} in an entry of your own, which uses no shell");
    if (r.starts_with("$") && r.size() > 1 && name_start(r[1]) && has(programs::variable_form::dollar)) {
      std::size_t end = 1;
      while (end < r.size() && name_part(r[end])) ++end;
      return reference(std::string(r.substr(1, end - 1)), end);
    }
    if (r.starts_with("{{") && has(programs::variable_form::double_curly) && r.find("}}") != r.npos)
      return fault("{{…}} stands for a value of each user of that program", "write the value itself");
    if (r.starts_with("{env:") && has(programs::variable_form::curly)) {
      const auto end = r.find('}');
      const auto name = r.substr(5, end == r.npos ? end : end - 5);
      if (end != r.npos && is_name(name)) return reference("env:" + std::string(name), end + 1);
    }
    if (r.starts_with("{file:") && has(programs::variable_form::curly))
      if (const auto end = r.find('}'); end != r.npos) return file(r.substr(6, end - 6), end + 1);
    return false;
  }

  bool file(std::string_view path, std::size_t length) {
    if (path.starts_with('/') || path.starts_with("~/")) return reference("file:" + std::string(path), length);
    if (path.empty() || context_.file_folder.empty())
      return fault("a file without an absolute path", "write its whole path");
    if (path.starts_with("./")) path.remove_prefix(2);
    return reference("file:" + context_.file_folder + "/" + std::string(path), length);
  }

  bool secrets() {
    const auto r = rest();
    const auto end = r.find("}}");
    if (end == r.npos) return fault("${{ is not closed", "write }} where it ends");
    auto inside = trimmed(r.substr(3, end - 3));
    for (const std::string_view source : {"secrets.", "inputs."})
      if (inside.starts_with(source)) {
        inside.remove_prefix(source.size());
        if (const auto dot = inside.rfind('.'); dot != inside.npos) inside.remove_prefix(dot + 1);
        if (!is_name(inside)) break;
        set(std::string(inside), "a secret of the program");
        return reference("env:" + std::string(inside), end + 2);
      }
    return fault("${{ … }} that is neither a secret nor an input", "write the value itself");
  }

  bool braces() {
    const auto r = rest();
    const auto end = r.find('}');
    if (end == r.npos) return literal();
    const auto inside = r.substr(2, end - 2);
    const auto length = end + 1;
    if (inside.starts_with("env:") && has(programs::variable_form::env_named)) {
      if (is_name(inside.substr(4))) return reference(std::string(inside), length);
      return fault("${env:…} without the name of a variable", "write the value itself");
    }
    if (inside.starts_with("input:") && has(programs::variable_form::input)) return input(inside.substr(6), length);
    if (inside.starts_with("file:") && has(programs::variable_form::file)) return file(inside.substr(5), length);
    if (inside.starts_with("cmd:") && has(programs::variable_form::command)) {
      const auto words = trimmed(inside.substr(4));
      if (const auto split = model::split_words(words); !split)
        return fault("${cmd:…}: " + split.error().message, "write it with a program and its arguments");
      return reference("cmd:" + std::string(words), length);
    }
    if (has(programs::variable_form::editor) && editor(inside, length)) return true;
    if (context_.plugins && (inside.starts_with("CLAUDE_") || inside.starts_with("user_config.")))
      return fault("${" + std::string(cut_utf8(inside, 64)) + "} is known to that program alone",
                   "write the value itself");
    if (has(programs::variable_form::braced)) {
      const auto cut = inside.find(":-");
      if (is_name(inside.substr(0, cut))) {
        if (cut != inside.npos && inside.find("${", cut) != inside.npos)
          return fault("the default of a variable holds another one", "write the value itself");
        return reference(std::string(inside), length);
      }
    }
    // Nobody means these as text: an editor would replace them in another file.
    static constexpr std::array<std::string_view, 6> others{
        "workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "cwd", "/"};
    if (has(programs::variable_form::editor | programs::variable_form::input) &&
        (inside.starts_with("config:") || inside.starts_with("command:")))
      return fault("${" + std::string(cut_utf8(inside, 64)) + "} is known to that program alone",
                   "write the value itself");
    if (std::ranges::find(others, inside) != others.end() && context_.forms != 0)
      return fault("${" + std::string(inside) + "} is a variable of editors", "write the path itself");
    return literal();
  }

  /// Copies `${` so that it stays text.
  bool literal() {
    made_.text += "$${";
    at_ += 2;
    return true;
  }

  bool editor(std::string_view name, std::size_t length) {
    if (name == "userHome") return reference("HOME", length);
    if (name == "/" || name == "pathSeparator") return plain("/", length);
    const bool whole = name == "workspaceFolder" || name == "cwd" || name == "workspaceRoot";
    if (!whole && name != "workspaceFolderBasename") return false;
    if (context_.folder.empty())
      return fault("${" + std::string(name) + "} is the folder that is open in the editor",
                   "write the folder's path, or import the file of the project");
    const auto slash = context_.folder.rfind('/');
    return plain(whole ? std::string_view(context_.folder) : std::string_view(context_.folder).substr(slash + 1),
                 length);
  }

  static const documents::node* text_of(const documents::node& object, std::string_view key) {
    const auto* m = object.find(key);
    return m != nullptr && m->value.is(documents::node::kind::string) ? &m->value : nullptr;
  }

  /// Replaces an input by its default, else by a variable that the person sets: the value is in the program's store.
  bool input(std::string_view id, std::size_t length) {
    const documents::node* described = nullptr;
    if (context_.inputs != nullptr)
      for (const auto& i : context_.inputs->items)
        if (const auto* name = text_of(i, "id"); name != nullptr && name->text == id) described = &i;
    const auto* type = described != nullptr ? text_of(*described, "type") : nullptr;
    if (type != nullptr && type->text == "command")
      return fault("${input:" + std::string(cut_utf8(id, 64)) + "} runs a command of the editor",
                   "write the value itself");
    if (const auto* preset = described != nullptr ? text_of(*described, "default") : nullptr;
        preset != nullptr && !preset->text.empty())
      return plain(escaped(preset->text), length);
    std::string name;
    for (const char c : id.substr(0, 64)) {
      const bool lower = c >= 'a' && c <= 'z';
      name += lower ? static_cast<char>(c - 'a' + 'A') : name_part(c) ? c : '_';
    }
    if (name.empty() || !name_start(name[0])) name.insert(0, "INPUT_");
    const auto* words = described != nullptr ? text_of(*described, "description") : nullptr;
    set(name, words != nullptr ? words->text : "an input of the program");
    return reference("env:" + name, length);
  }

  static std::string escaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i).starts_with("${")) out += '$';
      out += text[i];
    }
    return out;
  }

  void set(std::string name, std::string words) {
    made_.to_set.emplace_back(std::move(name), std::string(cut_utf8(words, 200)));
  }

  std::string_view text_;
  const variable_context& context_;
  std::size_t at_ = 0;
  translated_text made_;
};

}  // namespace

translated_text translate_variables(std::string_view text, const variable_context& context) {
  return translation(text, context).run();
}

}  // namespace mcpbx::conf::imports
