// The programs and references of entries, looked at in a child process, since a file or a folder of PATH may be on a
// mount that does not answer.
#include "conf/model/references.hpp"
#include "daemon/cli/doctor/gather.hpp"
#include "daemon/cli/doctor/in_time.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/process/program_lookup.hpp"
#include "mcp/redact/secret.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mcpbx::cli::doctor {
namespace {

constexpr std::string_view service_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t most_entries = 1'000;

std::optional<std::string> own_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// References as the daemon would see them. No program is run: it might ask the user something.
class seen_references final : public conf::model::reference_source {
 public:
  explicit seen_references(variable_lookup variable) : variable_(std::move(variable)) {}
  std::optional<std::string> env(std::string_view name) override { return variable_(name); }
  result<std::string> file(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fail(errc::not_found, "cannot read " + path + ": " + std::strerror(errno));
    struct stat s{};
    std::string text;
    std::array<char, 4096> block;
    const bool regular = ::fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    for (ssize_t n = 0; regular && text.size() < (1u << 20) && (n = ::read(fd, block.data(), block.size())) > 0;)
      text.append(block.data(), static_cast<std::size_t>(n));
    ::close(fd);
    if (!regular) return fail(errc::io, "cannot read " + path + ": it is no regular file");
    return text;
  }
  result<std::string> command(const std::vector<std::string>&) override {
    return fail(errc::unavailable, "not run for a check");
  }

 private:
  variable_lookup variable_;
};

bool runs_program(const conf::model::reference_string& s) {
  return s.text.contains("${cmd:");
}

// Notes why a reference does not resolve. Returns its value if it does.
std::optional<std::string> value_or_note(const conf::model::reference_string& s, conf::model::reference_source& source,
                                         std::vector<std::string>& missing) {
  if (runs_program(s)) return std::nullopt;
  auto value = conf::model::resolve(s, source);
  if (value) return std::move(*value);
  constexpr std::size_t most = 8;
  if (missing.size() < most) missing.push_back(value.error().message);
  return std::nullopt;
}

bool fetches_newest(const std::string& program, const std::vector<std::string>& arguments) {
  const auto name = program.substr(program.rfind('/') + 1);
  if (name == "uvx") return std::ranges::none_of(arguments, [](const auto& a) { return a.contains("=="); });
  if (name != "npx" && name != "bunx") return false;
  // A package with a version has an @ behind its first character.
  const auto package = std::ranges::find_if(arguments, [](const auto& a) { return !a.starts_with('-'); });
  return package != arguments.end() && package->find('@', 1) == std::string::npos;
}

std::string first_line(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return {};
  std::array<char, 256> block;
  const ssize_t n = ::read(fd, block.data(), block.size());
  ::close(fd);
  const std::string head(block.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return head.substr(0, head.find('\n'));
}

// Returns the interpreter of a script that cannot be found, or "". `#!/usr/bin/env NAME` names one in PATH.
std::string missing_interpreter(const std::string& file, const mcp::process::process_spec& spec) {
  std::string line = first_line(file);
  if (!line.starts_with("#!")) return {};
  line.erase(0, 2);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size() && words.size() < 4;) {
    const auto begin = line.find_first_not_of(" \t", at);
    if (begin == std::string::npos) break;
    const auto end = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
  if (words.empty()) return {};
  if (::access(words.front().c_str(), X_OK) != 0) return words.front();
  if (!words.front().ends_with("/env")) return {};
  const auto named = std::ranges::find_if(words.begin() + 1, words.end(),
                                          [](const auto& w) { return w[0] != '-' && !w.contains('='); });
  if (named == words.end()) return {};
  mcp::process::process_spec other = spec;
  other.argv = {*named};
  return mcp::process::find_program(other) ? "" : *named;
}

std::string own_folder() {
  std::array<char, 4096> buffer;
  const ssize_t n = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  const std::string path(buffer.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return path.substr(0, path.rfind('/'));
}

std::string home_of(const variable_lookup& variable) {
  const auto home = variable("HOME");
  return home && !home->empty() ? *home : "/";
}

void look_for_command(program_facts& p, const conf::model::server_entry& e, const variable_lookup& variable,
                      bool has_unit, const std::vector<std::string>& arguments, const std::string& env_path) {
  using enum program_facts::outcome;
  const std::string home = home_of(variable);
  mcp::process::process_spec spec;
  spec.argv = {p.program};
  spec.directory = home;
  std::vector<std::string> ignored;
  seen_references source(variable);
  if (e.cwd && !e.runs_at_caller()) {
    if (const auto cwd = value_or_note(*e.cwd, source, ignored)) spec.directory = conf::model::under_home(*cwd, home);
    struct stat s{};
    if (::stat(spec.directory.c_str(), &s) != 0) {
      p.state = no_directory;
      p.detail = spec.directory;
      return;
    }
  }
  const std::string path = !env_path.empty() ? env_path : variable("PATH").value_or("/bin:/usr/bin");
  spec.environment = {"PATH=" + path};
  auto found_file = mcp::process::find_program(spec);
  const bool by_name = !p.program.contains('/');
  if (!found_file && found_file.error().code == errc::not_found && by_name && env_path.empty()) {
    mcp::process::process_spec here = spec;
    here.environment = {"PATH=" + own_variable("PATH").value_or("/bin:/usr/bin")};
    if (const auto other = mcp::process::find_program(here)) {
      p.state = only_in_shell;
      p.found = *other;
      return;
    }
  }
  if (!found_file) {
    const auto& why = found_file.error();
    p.state = why.code == errc::not_found                 ? missing
              : why.message.contains("is not executable") ? not_executable
                                                          : broken;
    p.detail = why.message;
    if (p.state == not_executable) {
      const auto begin = why.message.find('"') + 1;
      p.found = why.message.substr(begin, why.message.find('"', begin) - begin);
      if (!p.found.starts_with('/')) p.found = spec.directory + "/" + p.found;
      struct stat s{};
      p.of_user = ::stat(p.found.c_str(), &s) == 0 && s.st_uid == ::geteuid();
    }
    return;
  }
  p.found = *found_file;
  if (const auto interpreter = missing_interpreter(p.found, spec); !interpreter.empty()) {
    p.state = no_interpreter;
    p.detail = interpreter;
    return;
  }
  p.fetches = fetches_newest(p.program, arguments);
  if (has_unit && by_name && env_path.empty()) {
    mcp::process::process_spec service = spec;
    service.environment = {"PATH=" + std::string(service_path)};
    p.not_for_service = !mcp::process::find_program(service);
  }
}

std::string encoded(const program_facts& p) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().members("state", static_cast<int>(p.state), "program", redact::redactor::redact(p.program), "found",
                           p.found);
  w.members("detail", redact::redactor::redact(p.detail), "ofUser", p.of_user, "notForService", p.not_for_service,
            "fetches", p.fetches);
  w.list("missing", p.missing).end_object();
  return json;
}

std::vector<std::string> texts_in(const json::raw_json& list) {
  std::vector<std::string> all;
  json::for_each_element(list, [&](const json::raw_json& one) {
    all.push_back(one.as_string().value_or(""));
    return true;
  });
  return all;
}

program_facts checked_program(const conf::model::server_entry& e, const variable_lookup& variable, bool has_unit) {
  program_facts p;
  seen_references source(variable);
  std::vector<std::string> arguments;
  std::string env_path;
  for (const auto& a : e.args) arguments.push_back(value_or_note(a, source, p.missing).value_or(""));
  for (const auto& [name, value] : e.env) {
    const auto resolved = value_or_note(value, source, p.missing);
    if (name == "PATH" && resolved) env_path = *resolved;
  }
  for (const auto& [name, value] : e.headers) (void)value_or_note(value, source, p.missing);
  if (e.url) (void)value_or_note(*e.url, source, p.missing);
  if (e.env_file)
    if (const auto path = value_or_note(*e.env_file, source, p.missing))
      if (const auto text = source.file(conf::model::under_home(*path, home_of(variable))); !text)
        p.missing.push_back("in \"" + e.env_file->where + "\": " + text.error().message);
  if (!e.command) return p;
  const auto command = value_or_note(*e.command, source, p.missing);
  if (!command) return p;
  p.program = conf::model::expand_home(*command, home_of(variable));
  if (p.program == "mcpbx-toolbox") p.program = own_folder() + "/mcpbx-toolbox";
  look_for_command(p, e, variable, has_unit, arguments, env_path);
  return p;
}

// Fills in what a child has told about a program.
void take(const std::optional<std::string>& answer, program_facts& p) {
  if (!answer) {
    p.state = program_facts::outcome::slow;
    return;
  }
  const auto told = json::raw_json::own(*answer);
  p.state = static_cast<program_facts::outcome>(json::find_member(told, "state").as_integer().value_or(0));
  p.program = json::member_text(told, "program");
  p.found = json::member_text(told, "found");
  p.detail = json::member_text(told, "detail");
  p.of_user = json::find_member(told, "ofUser").is_true();
  p.not_for_service = json::find_member(told, "notForService").is_true();
  p.fetches = json::find_member(told, "fetches").is_true();
  p.missing = texts_in(json::find_member(told, "missing"));
}

// Returns the sentences about references of a model that do not resolve, as JSON.
std::string missing_of(const conf::model::model_entry& m, const variable_lookup& variable) {
  seen_references source(variable);
  std::vector<std::string> missing;
  if (m.api_key) (void)value_or_note(*m.api_key, source, missing);
  if (m.base_url) (void)value_or_note(*m.base_url, source, missing);
  for (const auto& [name, value] : m.headers) (void)value_or_note(value, source, missing);
  std::string json;
  json::json_writer w(json);
  w.begin_array();
  for (const auto& sentence : missing) w.value(sentence);
  w.end_array();
  return json;
}

std::string at_line(const conf::loaded_files& loaded, const conf::documents::place& at) {
  if (at.line == 0 || at.file >= loaded.config.sources.size()) return "";
  return loaded.config.sources[at.file] + ":" + std::to_string(at.line);
}

}  // namespace

void add_entry_checks(check_list& checks, const conf::loaded_files& loaded, const variable_lookup& daemon_variable,
                      bool has_unit, facts& into) {
  const variable_lookup variable = daemon_variable ? daemon_variable : variable_lookup(own_variable);
  for (const bool disabled : {false, true})
    for (const auto& e : loaded.config.servers) {
      if (e.disabled != disabled || into.programs.size() >= most_entries) continue;
      auto& p = into.programs.emplace_back();
      p.server = e.name;
      p.disabled = disabled;
      if (disabled) continue;
      p.is_remote = e.url.has_value();
      p.is_lazy = e.start == conf::model::start_mode::lazy;
      p.entry_at = at_line(loaded, e.at);
      checks.add([&e, variable, has_unit] { return encoded(checked_program(e, variable, has_unit)); },
                 [&into, at = into.programs.size() - 1](const auto& answer) { take(answer, into.programs[at]); });
    }
  for (const auto& m : loaded.config.models) {
    if (into.models.size() >= most_entries) break;
    auto& seen = into.models.emplace_back();
    seen.name = m.name;
    seen.entry_at = at_line(loaded, m.at);
    seen.built_in = m.built_in;
    seen.has_address = m.base_url.has_value();
    seen.has_endpoint = m.api != conf::model::model_api::rehearsal && m.api != conf::model::model_api::replay;
    if (!m.api_key && !m.base_url && m.headers.empty()) continue;
    checks.add([&m, variable] { return missing_of(m, variable); },
               [&into, at = into.models.size() - 1](const auto& answer) {
                 into.models[at].missing =
                     answer ? texts_in(json::raw_json::own(*answer))
                            : std::vector<std::string>{"a file that its key or a header names did not answer in time"};
               });
  }
}

}  // namespace mcpbx::cli::doctor
