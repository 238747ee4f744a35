// Turns one entry of another program into an entry with our keys.
#pragma once
#include "conf/hosts/import/foreign_servers.hpp"
#include "conf/hosts/import/variables.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::conf {

/// Circumstances of an entry: the document around it.
struct entry_surroundings {
  std::string folder;            ///< of the project, or ""
  const node* inputs = nullptr;  ///< VS Code's list
  bool runs_in_folder = false;   ///< the program starts the server in `folder`
};

/// Reads the keys of one entry. A key that narrows and cannot be kept is an error; one that tunes is a notice.
class entry_reader {
 public:
  /// Writes the findings, the entry and the fate into `out`, whose name, file and section are set.
  entry_reader(foreign_server& out, const entry_surroundings& around);
  void run(node entry);

 private:
  using reader = void (entry_reader::*)(node_member&);
  struct key_reader {
    std::string_view key;
    reader read;
  };
  static const key_reader* find_reader(std::string_view key);

  void error(const node_member& m, std::string what, std::string mend);
  void notice(const node_member& m, std::string what, std::string mend = "nothing needs to be done");
  /// Reports an error for the entry as a whole.
  void refuse(std::string what, std::string mend);

  /// Returns a text with our references; nullopt after an error. The value must be a string.
  std::optional<std::string> text(const node_member& m, const node& value);
  node* our_object(std::string_view key);
  void set(std::string_view key, node value);
  void set_text(std::string_view key, std::string value, const place& at);
  void set_whole(std::string_view key, std::int64_t value, const place& at);
  void add_header(const node_member& m, std::string_view name, std::string value);

  void flatten(node& entry, std::string_view key);
  void command(node_member& m);
  void args(node_member& m);
  void env(node_member& m);
  void env_value(const node_member& m, const std::string& name, const node& value, node& into);
  void pass_env(node_member& m);
  void pass(const std::string& name, const place& at);
  void whole_environment(node_member& m);
  void folder_path(node_member& m);
  void env_file(node_member& m);
  void url(node_member& m);
  void headers(node_member& m);
  void env_headers(node_member& m);
  void token_variable(node_member& m);
  void request_options(node_member& m);
  void allowed(node_member& m);
  void tools(node_member& m);
  void denied_parts(node_member& m);
  void switched(node_member& m);
  void startup(node_member& m);
  void at_once(node_member& m);
  void protocol(node_member& m);
  void settings(node_member& m);
  void required_value(node_member& m);

  void timeout(node_member& m);
  void call_seconds(node_member& m);
  void call_milliseconds(node_member& m);
  void start_seconds(node_member& m);
  void start_milliseconds(node_member& m);
  void start_text(node_member& m);
  void set_time(const node_member& m, std::string_view key, double milliseconds);

  void oauth(node_member& m);
  void auth(node_member& m);
  void api_key(node_member& m);
  void client_id(node_member& m);
  void client_secret(node_member& m);
  void foreign_login(node_member& m);
  void foreign_tokens(node_member& m);
  void provider_type(node_member& m);
  void nothing(node_member&) {}
  void oauth_member(const node_member& whole, const node_member& m);

  void finish_command();
  void finish_arguments();
  void finish_transport(bool has_word);
  void look_at_arguments();
  void adopt();
  void check_unknown();
  void put_in_order();

  foreign_server& out_;
  const program& from_;
  const entry_surroundings& around_;
  variable_context variables_;
  std::optional<std::pair<std::string, place>> address_;
};

}  // namespace mcpbx::conf
