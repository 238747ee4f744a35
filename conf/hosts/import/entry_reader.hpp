// Turns one entry of another program into an entry with our keys.
#pragma once
#include "conf/hosts/import/foreign_servers.hpp"
#include "conf/hosts/import/variables.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::conf::imports {

/// Circumstances of an entry: the document around it.
struct entry_surroundings {
  std::string folder;                       ///< of the project, or ""
  const documents::node* inputs = nullptr;  ///< VS Code's list
  bool runs_in_folder = false;              ///< the program starts the server in `folder`
};

/// Reads the keys of one entry. A key that narrows and cannot be kept is an error; one that tunes is a notice.
class entry_reader {
 public:
  /// Writes the findings, the entry and the fate into `out`, whose name, file and section are set.
  entry_reader(foreign_server& out, const entry_surroundings& around);
  void run(documents::node entry);

 private:
  using reader = void (entry_reader::*)(documents::node_member&);
  struct key_reader {
    std::string_view key;
    reader read;
  };
  static const key_reader* find_reader(std::string_view key);

  void error(const documents::node_member& m, std::string what, std::string mend);
  void notice(const documents::node_member& m, std::string what, std::string mend = "nothing needs to be done");
  /// Reports an error for the entry as a whole.
  void refuse(std::string what, std::string mend);

  /// Returns a text with our references; nullopt after an error. The value must be a string.
  std::optional<std::string> text(const documents::node_member& m, const documents::node& value);
  documents::node* our_object(std::string_view key);
  void set(std::string_view key, documents::node value);
  void set_text(std::string_view key, std::string value, const documents::place& at);
  void set_whole(std::string_view key, std::int64_t value, const documents::place& at);
  void add_header(const documents::node_member& m, std::string_view name, std::string value);

  void flatten(documents::node& entry, std::string_view key);
  void command(documents::node_member& m);
  void args(documents::node_member& m);
  void env(documents::node_member& m);
  void env_value(const documents::node_member& m, const std::string& name, const documents::node& value,
                 documents::node& into);
  void pass_env(documents::node_member& m);
  void pass(const std::string& name, const documents::place& at);
  void whole_environment(documents::node_member& m);
  void folder_path(documents::node_member& m);
  void env_file(documents::node_member& m);
  void url(documents::node_member& m);
  void headers(documents::node_member& m);
  void env_headers(documents::node_member& m);
  void token_variable(documents::node_member& m);
  void request_options(documents::node_member& m);
  void allowed(documents::node_member& m);
  void tools(documents::node_member& m);
  void denied_parts(documents::node_member& m);
  void switched(documents::node_member& m);
  void startup(documents::node_member& m);
  void at_once(documents::node_member& m);
  void protocol(documents::node_member& m);
  void settings(documents::node_member& m);
  void required_value(documents::node_member& m);

  void timeout(documents::node_member& m);
  void call_seconds(documents::node_member& m);
  void call_milliseconds(documents::node_member& m);
  void start_seconds(documents::node_member& m);
  void start_milliseconds(documents::node_member& m);
  void start_text(documents::node_member& m);
  void set_time(const documents::node_member& m, std::string_view key, double milliseconds);

  void oauth(documents::node_member& m);
  void auth(documents::node_member& m);
  void api_key(documents::node_member& m);
  void client_id(documents::node_member& m);
  void client_secret(documents::node_member& m);
  void foreign_login(documents::node_member& m);
  void foreign_tokens(documents::node_member& m);
  void provider_type(documents::node_member& m);
  void nothing(documents::node_member&) {}
  void oauth_member(const documents::node_member& whole, const documents::node_member& m);

  void finish_command();
  void finish_arguments();
  void finish_transport(bool has_word);
  void look_at_arguments();
  void adopt();
  void check_unknown();
  void put_in_order();

  foreign_server& out_;
  const programs::program& from_;
  const entry_surroundings& around_;
  variable_context variables_;
  std::optional<std::pair<std::string, documents::place>> address_;
};

}  // namespace mcpbx::conf::imports
