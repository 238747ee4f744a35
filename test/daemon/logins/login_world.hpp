// Logins of one server named "files" with a real port and a real file, and an authorization server in the same loop.
// The test is the browser.
#pragma once
#include "daemon/logins/logins.hpp"
#include "test/daemon/logins/authorization_server.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

struct login_world {
  http_loop loop;
  manual_time clock;  // of the logins
  temporary_directory dir;
  authorization_server as{loop};
  std::vector<std::string> changed;
  bool locked = false;  // the key cannot be had
  std::vector<std::vector<std::string>> programs;
  std::unique_ptr<daemon::logins::logins> all;

  login_world() {
    all = daemon_beside();
    all->set_entries({entry()});
  }
  ~login_world() { all.reset(); }
  // Returns the logins of a daemon that shares the file.
  using on_change = std::function<void(const daemon::logins::login_entry& entry, bool held)>;
  std::unique_ptr<daemon::logins::logins> daemon_beside(on_change changes = {}) {
    if (!changes) changes = [this](const daemon::logins::login_entry& e, bool) { changed.push_back(e.server); };
    return std::make_unique<daemon::logins::logins>(
        daemon::logins::login_parts{loop.context.get_executor(), clock, *loop.client, auth::system_secrets()},
        daemon::logins::logins::options{dir / "credentials.json",
                                        [this] {
                                          return locked ? daemon::credentials::credential_key{}
                                                        : daemon::credentials::credential_key{
                                                              daemon::credentials::key_place::systemd,
                                                              std::string(32, 'k')};
                                        },
                                        "uid:1000"},
        daemon::logins::logins::hooks{
            std::move(changes), [this](std::vector<std::string> command) { programs.push_back(std::move(command)); }});
  }
  // Returns the name in the file of the tokens of "files".
  std::string name_in_file() const {
    return daemon::credentials::credential_file::entry_name("files", as.server_url());
  }
  daemon::logins::login_entry entry(daemon::logins::login_settings s = {}) const {
    daemon::logins::login_entry e;
    e.server = "files";
    if (s.url.empty()) s.url = as.server_url();
    e.address = e.fingerprint = s.url;
    e.opens = !s.open.empty();
    if (e.opens) e.fingerprint += " opens";
    e.settings = [s](const auto& then) { then(s); };
    return e;
  }
  mcp::connect::authorizer& tokens() { return *all->tokens_of("files"); }

  // Logs in as a person with a browser does.
  void log_in() {
    std::optional<daemon::logins::login_invitation> told;
    all->begin({"files"}, nullptr, [&](result<daemon::logins::login_invitation> i) { told = std::move(i).value(); });
    REQUIRE(loop.until([&] { return told.has_value(); }));
    std::optional<result<void>> over;
    all->when_over({"files"}, nullptr, [&](result<void> o) { over = std::move(o); });
    CHECK(get(loop, authorization_server::redirect_of(told->address)).status == 200);
    REQUIRE(loop.until([&] { return over.has_value(); }));
    CHECK(over->has_value());
  }
  // Does what a browser does with the address on its command line: returns the address that it is led to.
  std::string led(const std::string& opened) {
    const auto got = get(loop, opened);
    CHECK(got.status == 302);
    return std::string(http::find_header(got.headers, "Location"));
  }
  // Reports a refusal. Returns true if the request may be sent again.
  bool refuse(int status = 401, const std::string& challenge = "Bearer") {
    std::optional<bool> again;
    tokens().refused(status, challenge, tokens().header(), [&](bool a) { again = a; });
    REQUIRE(loop.until([&] { return again.has_value(); }));
    return *again;
  }
  // Lets so much time pass that a refused token is renewed again.
  void pass_renewals() { clock.advance(std::chrono::seconds(21)); }
  std::string prepared() {
    bool ready = false;
    tokens().prepare([&] { ready = true; });
    REQUIRE(loop.until([&] { return ready; }));
    return tokens().header();
  }
  daemon::logins::login_status status() {
    std::optional<daemon::logins::login_status> got;
    all->status([&](const daemon::logins::login_report& report) { got = report.servers.at(0); });
    REQUIRE(loop.until([&] { return got.has_value(); }));
    return *got;
  }
};

}  // namespace mcpbx::test
