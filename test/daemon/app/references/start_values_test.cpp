// Tests of start values from files, programs and variables.
#include "daemon/app/references/start_values.hpp"

#include "mcp/redact/secret.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/support/captured_output.hpp"
#include "test/support/contains.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::references;
using namespace mcpbx::redact;
using mcpbx::daemon::test::loaded;
using mcpbx::test::contains;

namespace {

struct values_fixture {
  ~values_fixture() { redactor::clear(); }
  // A program that leaves a mark each time it runs.
  std::string marking(const std::string& says) const {
    return "${cmd:sh -c 'echo x >> " + folder.path() + "/runs && echo " + says + "'}";
  }
  std::size_t runs() const {
    std::ostringstream all;
    all << std::ifstream(folder / "runs").rdbuf();
    return all.str().size() / 2;
  }
  mcpbx::test::temporary_directory folder;
};

std::string entry(const std::string& more) {
  return R"({"api": "azure", "model": "x", "baseUrl": "https://a.example", )" + more + "}";
}

}  // namespace

TEST_CASE_FIXTURE(values_fixture, "start_values: files and programs are read at the start and never again") {
  folder.write("prompt", "Be brief.\nBe kind.\n");
  const auto all = loaded(
      R"({"models": {"m": )" +
      entry("\"system\": \"${file:" + folder.path() + "/prompt}\", \"apiVersion\": \"v" + marking("7") + "\"") + "}}");
  const auto& m = *all.find_model("m");
  const start_values values(all);
  CHECK(runs() == 1);
  folder.write("prompt", "Be long.");
  CHECK(values.value(*m.system) == "Be brief.\nBe kind.");
  CHECK(redactor::redact("Be brief.") == "Be brief.");
  CHECK(values.value(*m.api_version) == "v7");
  CHECK(values.value(*m.model) == "x");
  CHECK(runs() == 1);
  CHECK(start_values(all).value(*m.system) == "Be long.");
}

TEST_CASE("start_values: programs that hang hold the start for a bounded time, however many there are") {
  struct slow_programs final : conf::model::reference_source {
    std::optional<std::string> env(std::string_view) override { return std::nullopt; }
    result<std::string> file(const std::string&) override { return "f"; }
    result<std::string> command(const std::vector<std::string>&) override {
      ++ran;
      now += std::chrono::seconds(5);
      return fail(errc::timed_out, "it did not end within 5 s");
    }
    int ran = 0;
    time_point now{};
  } slow;
  const auto all = loaded(R"({"models": {"a": )" + entry(R"("system": "${cmd:one}", "apiVersion": "${cmd:two}")") +
                          R"(, "b": )" + entry(R"("system": "${cmd:three}", "apiVersion": "${file:/v}")") + "}}");
  const start_values values(all, slow, [&] { return slow.now; });
  CHECK(slow.ran == 2);
  CHECK(contains(values.value(*all.find_model("a")->system).error().message, "did not end within 5 s"));
  const auto left = values.value(*all.find_model("b")->system);
  CHECK_MESSAGE(contains(left.error().message, "it was not run, because those before it took more than 8 s"),
                left.error().message);
  CHECK(values.value(*all.find_model("b")->api_version) == "f");
}

TEST_CASE_FIXTURE(values_fixture, "start_values: what fails is told with its place, and nothing else fails") {
  const auto all =
      loaded(R"({"models": {"m": )" +
             entry(R"("system": "${file:/nonesuch/a}", "apiVersion": "${cmd:false}", "caFile": "${cmd:echo c}")") +
             R"(}, "profiles": {"p": {"system": "${file:/nonesuch/a}"}}})");
  const auto& m = *all.find_model("m");
  const start_values values(all);
  CHECK(values.value(*m.system).error().message ==
        "in \"models.m.system\": ${file:/nonesuch/a}: cannot read /nonesuch/a: No such file or directory");
  CHECK(values.value(*m.system).error().code == errc::config);
  CHECK(values.value(*m.api_version).error().message ==
        "in \"models.m.apiVersion\": ${cmd:false}: the command `false` ended with status 1");
  CHECK(contains(values.value(*all.find_profile("p")->system).error().message, "in \"profiles.p.system\": ${file:"));
  CHECK(values.value(*m.ca_file) == "c");
}

TEST_CASE_FIXTURE(values_fixture, "start_values: a program runs once, however many strings it stands in") {
  const auto same = "\"" + marking("a") + "\"", longer = "\"b" + marking("a") + "\"";
  const auto all =
      loaded(R"({"models": {"m": {"api": "openai-chat", "model": )" + same + R"(, "baseUrl": "https://h/v1?k=)" +
             marking("a") + R"(", "caFile": )" + same + R"(, "system": )" + longer + R"(},
    "r": {"api": "rehearsal", "script": )" +
             same + R"(}}, "profiles": {"p": {"system": )" + longer + R"(}}, "http": {"address": )" + same +
             R"(, "tokenFile": )" + longer + R"(}, "store": {"url": )" + same + "}}");
  const auto& m = *all.find_model("m");
  const start_values values(all);
  for (const auto* s : {&m.model, &m.ca_file, &all.find_model("r")->script, &all.http.address, &all.store.url})
    CHECK(values.value(s->value()) == "a");
  for (const auto* s : {&m.system, &all.find_profile("p")->system, &all.http.token_file})
    CHECK(values.value(s->value()) == "ba");
  CHECK(values.value(*m.base_url) == "https://h/v1?k=a");
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(values_fixture, "start_values: variables are looked up at each use") {
  const auto all = loaded(R"({"models": {"m": )" + entry(R"("system": "in ${env:MCPBX_TEST_A}")") + "}}");
  const auto& system = *all.find_model("m")->system;
  const start_values values(all);
  for (const char* now : {"Dutch", "Czech"}) {
    const mcpbx::test::changed_variable set("MCPBX_TEST_A", now);
    CHECK(values.value(system) == std::string("in ") + now);
  }
  const mcpbx::test::changed_variable unset("MCPBX_TEST_A", nullptr);
  CHECK(
      contains(values.value(system).error().message, "in \"models.m.system\": the environment variable MCPBX_TEST_A"));
}

TEST_CASE_FIXTURE(values_fixture, "start_values: nothing is read for what can wait, and what was not read says so") {
  const auto all = loaded(R"({"models": {"m": )" + entry("\"apiKey\": \"" + marking("k") + "\"") +
                          R"(}, "store": {"url": "postgresql://me:)" + marking("k") + R"(@h/d"}})");
  const start_values values(all);
  CHECK(runs() == 0);
  CHECK(values.value(*all.find_model("m")->api_key).error().code == errc::internal);
}

TEST_CASE_FIXTURE(values_fixture, "G35: what is secret in an address from a file is known once it was read") {
  redactor::clear();
  folder.write("sig", "canary%2Fsig-7");
  folder.write("url", "https://me:canary-login-7@h/v1?api-key=canary-key-7&mode=stream");
  const auto all = loaded(R"({"models": {
    "a": {"api": "openai-chat", "model": "x", "baseUrl": "https://h/v1?x=a${file:)" +
                          folder.path() + R"(/sig}"}, "b": {"api": "openai-chat", "model": "x", "baseUrl": "${file:)" +
                          folder.path() + R"(/url}"}}})");
  const start_values values(all);
  CHECK(redactor::redact("acanary/sig-7 canary-login-7 canary-key-7 mode=stream") == "*** *** *** mode=stream");
}
