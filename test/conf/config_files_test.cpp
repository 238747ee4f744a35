// Tests of the search for configuration files and of their owners and modes. Works in a temporary directory.
#include "conf/config_files.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

using namespace mcpbx::conf;
namespace fs = std::filesystem;

namespace {

struct temporary_directory {
  fs::path path;
  temporary_directory() {
    std::string name = (fs::temp_directory_path() / "mcpbx-conf-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    path = name;
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory() { fs::remove_all(path); }

  fs::path write(const fs::path& name, const std::string& text = "{}") const {
    const auto file = path / name;
    if (!fs::exists(file.parent_path())) {
      fs::create_directories(file.parent_path());
      ::chmod(file.parent_path().c_str(), 0700);
    }
    std::ofstream(file) << text;
    ::chmod(file.c_str(), 0600);
    return file;
  }
};

struct machine {
  temporary_directory home;
  environment env;
  file_options options;
  machine() {
    env.values["HOME"] = home.path.string();
    options.system_directory = home.path / "etc";
  }
  std::vector<std::string> found() const {
    auto files = find_files(env, options);
    REQUIRE(files);
    std::vector<std::string> names;
    for (const auto& f : *files) names.push_back(fs::relative(f, home.path).string());
    return names;
  }
};

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("files: without any file there is none and nothing is read from the working directory") {
  const machine m;
  CHECK(m.found().empty());
  const auto before = fs::current_path();
  m.home.write("cwd/config.json", "broken");
  m.home.write("cwd/mcpbx/config.json", "broken");
  fs::current_path(m.home.path / "cwd");
  CHECK(m.found().empty());
  const auto made = load_files(m.env, m.options);
  fs::current_path(before);
  CHECK(made.ok());
  CHECK(made.config.servers.at(0).bundled);
}

TEST_CASE("files: the first that exists counts") {
  machine m;
  m.home.write("etc/config.json");
  m.home.write("etc/config.d/a.json");
  CHECK(m.found() == names{"etc/config.json", "etc/config.d/a.json"});
  m.home.write(".config/mcpbx/config.json");
  m.home.write(".config/mcpbx/config.d/b.json");
  m.home.write(".config/mcpbx/config.d/a.json");
  m.home.write(".config/mcpbx/config.d/.hidden.json");
  m.home.write(".config/mcpbx/config.d/c.json~");
  CHECK(m.found() ==
        names{".config/mcpbx/config.json", ".config/mcpbx/config.d/a.json", ".config/mcpbx/config.d/b.json"});
  m.home.write("xdg/mcpbx/config.d/only.json");
  m.env.values["XDG_CONFIG_HOME"] = (m.home.path / "xdg").string();
  CHECK(m.found() == names{"xdg/mcpbx/config.d/only.json"});
  m.env.values["MCPBX_CONFIG"] = m.home.write("v.json").string();
  CHECK(m.found() == names{"v.json"});
  m.home.write("f.json");
  m.options.flag = "~/f.json";
  CHECK(m.found() == names{"f.json"});
}

TEST_CASE("files: a file that was named must exist") {
  machine m;
  m.home.write("etc/config.json");
  m.env.values["MCPBX_CONFIG"] = "/none/x.json";
  CHECK(find_files(m.env, m.options).error().message ==
        "there is no file /none/x.json, which MCPBX_CONFIG names: correct the path");
  m.options.flag = "/none/y.json";
  const auto made = load_files(m.env, m.options);
  CHECK(made.error_text() == "there is no file /none/y.json, which --config names: correct the path\n");
}

TEST_CASE("files: what others can write is refused with the command that mends it") {
  const temporary_directory t;
  const auto file = t.write("d/c.json", "{}");
  CHECK(read_file(file));
  ::chmod(file.c_str(), 0620);
  CHECK(read_file(file).error().message ==
        "the file " + file.string() +
            " can be written by its group, who could change the configuration: run `chmod go-w " + file.string() + "`");
  ::chmod(file.c_str(), 0602);
  CHECK(read_file(file).error().message.find("by everybody") != std::string::npos);
  ::chmod(file.c_str(), 0644);
  CHECK(read_file(file));

  const auto directory = t.path / "d";
  ::chmod(directory.c_str(), 0770);
  CHECK(read_file(file).error().message.find("the directory " + directory.string() + " can be written by its group") ==
        0);
  ::chmod(directory.c_str(), 01777);  // sticky, as /tmp is
  CHECK(read_file(file));
  ::chmod(directory.c_str(), 0755);
  CHECK(read_file(file));
}

TEST_CASE("files: what belongs to somebody else is refused") {
  const temporary_directory t;
  const auto file = t.write("d/c.json");
  const uid_t me = ::geteuid(), other = 54321;
  if (me == 0) {  // root's files are everybody's to read; those of a stranger are not
    CHECK(read_file(file, other));
    REQUIRE(::chown(file.c_str(), other, static_cast<gid_t>(-1)) == 0);
    CHECK(read_file(file, other));
    CHECK(read_file(file, me).error().message.find(
              "belongs to user 54321, who could change the configuration: run `chown 0 ") != std::string::npos);
    REQUIRE(::chown((t.path / "d").c_str(), other, static_cast<gid_t>(-1)) == 0);
    REQUIRE(::chown(file.c_str(), me, static_cast<gid_t>(-1)) == 0);
    CHECK(read_file(file, me).error().message.starts_with("the directory "));
  } else {
    CHECK(read_file(file, other).error().message.find("belongs to user " + std::to_string(me)) != std::string::npos);
  }
}

TEST_CASE("files: a link is checked where it stands and where it leads") {
  const temporary_directory t;
  const auto real = t.write("open/c.json");
  t.write("home/x");
  fs::create_symlink(real, t.path / "home/c.json");
  CHECK(read_file(t.path / "home/c.json"));
  ::chmod((t.path / "open").c_str(), 0777);
  CHECK(read_file(t.path / "home/c.json").error().message.starts_with("the directory " + (t.path / "open").string()));
}

TEST_CASE("files: only regular files of a bounded size are read") {
  const temporary_directory t;
  REQUIRE(::mkfifo((t.path / "pipe").c_str(), 0600) == 0);
  CHECK(read_file(t.path / "pipe").error().message.find("no regular file") != std::string::npos);
  CHECK(read_file(t.path).error().message.find("no regular file") != std::string::npos);
  CHECK(read_file(t.path / "none").error().message.find("No such file") != std::string::npos);
  const auto big = t.write("big.json", std::string(max_file_bytes, ' '));
  CHECK(read_file(big)->size() == max_file_bytes);
  std::ofstream(big, std::ios::app) << " ";
  CHECK(read_file(big).error().code == mcpbx::errc::limit);
}

TEST_CASE("G34: unreadable and wrong files are told together") {
  machine m;
  m.home.write(".config/mcpbx/config.json", "{\"toolNames\": 5}");
  ::chmod(m.home.write(".config/mcpbx/config.d/a.json").c_str(), 0666);
  const auto made = load_files(m.env, m.options);
  REQUIRE(made.errors.size() == 2);
  CHECK(made.error_text().find("chmod go-w") != std::string::npos);
  CHECK(made.error_text().find("config.json:1:15: must be one of \"prefixed\", \"plain\"") != std::string::npos);
}

TEST_CASE("files: files and drop-ins are merged from disk") {
  machine m;
  m.home.write(".config/mcpbx/config.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}} // with a comment");
  m.home.write(".config/mcpbx/config.d/b.json", "{\"mcpServers\": {\"b\": {\"command\": \"y\"},},}");
  const auto made = load_files(m.env, m.options);
  CHECK(made.error_text() == "");
  CHECK(made.config.servers.size() == 2);
  CHECK(made.config.sources.size() == 2);
}

TEST_CASE("files: drop-ins that cannot be looked for are an error and not taken for none") {
  machine m;
  m.home.write(".config/mcpbx/config.json");
  const auto folder = m.home.path / ".config/mcpbx/config.d";
  const auto told = [&] { return load_files(m.env, m.options).error_text(); };
  CHECK(told() == "");
  m.home.write(".config/mcpbx/config.d");  // a file where a folder should be
  CHECK(told().find("cannot read the folder " + folder.string()) == 0);
  fs::remove(folder);
  fs::create_symlink("config.d", folder);  // leads to itself
  CHECK(told().find("cannot read the folder " + folder.string()) == 0);
  fs::remove(folder);
  fs::create_symlink("gone", folder);  // leads nowhere
  CHECK(told().find("cannot read the folder " + folder.string()) == 0);
  fs::remove(folder);
  if (::geteuid() == 0) return;  // root may read everything
  m.home.write(".config/mcpbx/config.d/a.json");
  ::chmod(folder.c_str(), 0);
  CHECK(told().find("cannot read the folder " + folder.string()) == 0);
  ::chmod(folder.c_str(), 0700);
}

TEST_CASE("files: a single file that cannot be read is an error wherever it stands") {
  machine m;
  m.home.write(".config/mcpbx/config.json");
  m.home.write(".config/mcpbx/config.d/a.json");
  fs::create_symlink("gone", m.home.path / ".config/mcpbx/config.d/b.json");
  CHECK(load_files(m.env, m.options).error_text().find("config.d/b.json (No such file or directory)") !=
        std::string::npos);
  fs::remove(m.home.path / ".config/mcpbx/config.d/b.json");
  fs::remove(m.home.path / ".config/mcpbx/config.json");
  fs::create_symlink("gone", m.home.path / ".config/mcpbx/config.json");
  CHECK(load_files(m.env, m.options).error_text().find("config.json (No such file or directory)") != std::string::npos);
}

TEST_CASE("files: a folder of the configuration that leads nowhere is not taken for none") {
  machine m;
  m.home.write("etc/config.json");
  fs::create_directory(m.home.path / ".config");
  fs::create_symlink("gone", m.home.path / ".config/mcpbx");
  CHECK(load_files(m.env, m.options).error_text().find("cannot look at the folder ") == 0);
  m.env.values["HOME"] = "/dev/null";  // has no folders, and nobody's configuration
  CHECK(load_files(m.env, m.options).ok());
}
