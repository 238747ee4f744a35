// A home of its own for tests of verbs that change the configuration: its folders, its environment, and the command
// line run inside of this process.
#pragma once
#include "daemon/cli/cli.hpp"
#include "test/support/captured_output.hpp"
#include "test/support/temporary_directory.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

class config_home {
 public:
  struct outcome {
    int status;
    std::string out, err;
  };

  config_home() {
    for (const char* name : names) {
      const char* value = ::getenv(name);
      kept_[name] = value ? std::optional<std::string>(value) : std::nullopt;
      if (std::string_view(name) != "PATH") ::unsetenv(name);
    }
    ::setenv("HOME", dir.path().c_str(), 1);
    ::setenv("MCPBX_SOCKET", (dir / "no daemon").c_str(), 1);
  }
  ~config_home() {
    for (const auto& [name, value] : kept_) {
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
    }
  }
  config_home(const config_home&) = delete;
  config_home& operator=(const config_home&) = delete;

  std::string folder() const { return dir / ".config/mcpbx"; }
  std::string drop_in(std::string_view name) const { return folder() + "/config.d/" + std::string(name); }
  std::string secret(std::string_view name) const { return folder() + "/secrets/" + std::string(name); }

  /// Writes a file of the configuration with mode 0600.
  void write(const std::string& path, std::string_view text) const {
    namespace fs = std::filesystem;
    for (fs::path made; const auto& part : fs::path(path).parent_path()) {
      made /= part;
      if (!fs::exists(made)) {
        fs::create_directory(made);
        fs::permissions(made, fs::perms::owner_all);
      }
    }
    std::ofstream(path, std::ios::binary) << text;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
  static std::string text(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  /// Returns all files below the folder of the configuration with their contents.
  std::map<std::string, std::string> files() const {
    namespace fs = std::filesystem;
    std::map<std::string, std::string> all;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(folder(), none))
      if (entry.is_regular_file()) all[fs::relative(entry.path(), folder()).native()] = text(entry.path().native());
    return all;
  }

  static int run_here(std::vector<std::string> words) {
    words.insert(words.begin(), "mcpbx");
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    return cli::program::run(static_cast<int>(argv.size()), argv.data());
  }
  /// Runs the command line with an empty standard input.
  static outcome run(const std::vector<std::string>& words) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC), kept = ::dup(0);
    ::dup2(nothing, 0);
    outcome got{};
    {
      const captured_output captured;
      got.status = run_here(words);
      got.out = captured.out();
      got.err = captured.err();
    }
    ::dup2(kept, 0);
    ::close(kept);
    ::close(nothing);
    return got;
  }

  temporary_directory dir;

 private:
  static constexpr std::array<const char*, 9> names{
      "HOME",   "MCPBX_SOCKET", "MCPBX_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
      "VISUAL", "EDITOR",       "PATH"};
  std::map<std::string, std::optional<std::string>> kept_;
};

}  // namespace mcpbx::test
