// The facts that `mcpbx doctor` judges: gathered by gather_*.cpp, judged by findings.hpp. Plain values without I/O.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::cli::doctor {

/// A file, folder or socket as stat() shows it.
struct path_facts {
  enum class look : std::uint8_t {
    missing,
    there,
    unreadable,  ///< `problem` tells why
    slow         ///< it did not answer in time
  };
  enum class kind : std::uint8_t { file, folder, socket, other };
  std::string path;
  look state = look::missing;
  kind is = kind::file;
  unsigned mode = 0;  ///< permission bits, with the sticky one
  uid_t owner = 0;
  bool writable = false;   ///< by this user
  std::int64_t inode = 0;  ///< 0: unknown
  std::string problem = {};
  bool operator==(const path_facts&) const = default;
};

struct config_facts {
  std::vector<path_facts> paths;  ///< the files and their folders
  std::vector<std::string> errors, notices;
  std::vector<std::string> files;  ///< those that were read
  std::size_t servers = 0, models = 0;
};

/// The address of a model or of a tool server with a `url`.
struct address_facts {
  enum class outcome : std::uint8_t { unchecked, answers, unresolved, unreachable, certificate, slow };
  outcome state = outcome::unchecked;
  std::string shown;   ///< SCHEME://HOST:PORT, or "" for an entry without an address
  std::string detail;  ///< the reason in words
};

/// The program or the address of a tool server, and its references.
struct program_facts {
  enum class outcome : std::uint8_t {
    found,
    missing,
    only_in_shell,  ///< in this shell's PATH, and not in the daemon's
    not_executable,
    no_interpreter,
    no_directory,
    broken,  ///< `detail` tells why
    slow
  };
  std::string server, entry_at;  ///< `entry_at`: FILE:LINE of the entry
  outcome state = outcome::found;
  bool disabled = false;               ///< nothing else was looked at
  bool is_remote = false;              ///< it has a `url`
  bool is_lazy = false;                ///< nothing is asked of it before its first use
  address_facts address;               ///< of a remote one
  std::string program;                 ///< as the entry names it, resolved
  std::string found;                   ///< the file
  std::string detail;                  ///< the interpreter, the directory, or a reason
  bool of_user = false;                ///< the file `found` belongs to this user
  bool not_for_service = false;        ///< found, but not in the PATH that a service of systemd gets
  bool fetches = false;                ///< npx -y, uvx: fetches the newest package at each start
  std::vector<std::string> missing{};  ///< sentences about references that do not resolve
};

struct model_facts {
  std::string name, entry_at;
  bool built_in = false, has_endpoint = false, is_default = false;
  bool has_address = false;  ///< the entry itself has a "baseUrl"
  address_facts address;
  std::vector<std::string> missing{};  ///< sentences about references that do not resolve
  std::string problem;                 ///< the daemon's words about the entry, or ""
  bool asked = false;                  ///< one tiny request was made
  std::string answer_problem;          ///< the reason why it got no answer, or ""
};

/// A tool server that was started by this command, because nobody else could try it.
struct trial_facts {
  std::string server;
  bool ready = false;
  std::string problem;  ///< sentence, if it is not
  std::size_t tools = 0;
  std::int64_t ready_ms = 0;
};

/// Another process of this user that is a daemon.
struct other_daemon {
  pid_t pid = 0;
  std::string socket;  ///< its --socket, or ""
};

struct socket_facts {
  enum class outcome : std::uint8_t {
    answers,
    none,     ///< nothing is there
    refused,  ///< a file is there and nobody listens
    silent,   ///< somebody listens and does not answer in time
    denied,   ///< `problem` tells why
    unusable  ///< the path itself cannot be a socket's
  };
  outcome state = outcome::none;
  path_facts file, folder, lock;
  bool lock_held = false;
  pid_t holder = 0;  ///< of the lock, or of the connection; 0: unknown
  std::string problem = {};
};

/// The answers of the daemon; absent ones were not given.
struct daemon_facts {
  json::raw_json hello, status, servers, pins;
  std::string news;  ///< a clause about a change since its start, or ""
  bool reload_helps = false;
  std::vector<other_daemon> others{};
};

struct state_facts {
  enum class integrity : std::uint8_t { unchecked, good, damaged, slow };
  path_facts folder, journal, token;
  bool has_journal = false;  ///< SQLite keeps the journal in `journal`
  std::optional<std::int64_t> free_bytes{};
  integrity journal_is = integrity::unchecked;
  std::string journal_detail;
  bool token_wanted = false;
  std::string taken_port;  ///< `http.address`, if a process listens there
};

struct unit_facts {
  std::string name;    ///< "mcpbx.service", or "" if none is installed
  std::string active;  ///< systemd's word: "active", "inactive", "failed"; "" unknown
  bool enabled = false;
  bool has_path = false;  ///< a drop-in gives it the PATH of a shell
};

/// Another program that starts tool servers.
struct host_facts {
  std::string name, title;          ///< "claude-code", "Claude Code"
  std::vector<std::string> direct;  ///< servers of ours that it starts itself, by our names
  std::vector<std::string> more;    ///< servers that we do not have
  std::string sandbox;              ///< the folder that shows that it runs in a sandbox, or ""
};

struct facts {
  uid_t user = 0;
  std::string version;  ///< of this program
  config_facts config;
  std::vector<program_facts> programs{};
  std::vector<model_facts> models{};
  std::vector<trial_facts> trials{};
  socket_facts socket;
  std::optional<daemon_facts> daemon{};  ///< nullopt: none answers
  state_facts state;
  unit_facts unit;
  std::vector<host_facts> hosts{};
  std::string only = {};     ///< the server or model that was asked for, or "": everything
  bool online = false;       ///< --online
  bool interrupted = false;  ///< a person ended the requests to models
};

}  // namespace mcpbx::cli::doctor
