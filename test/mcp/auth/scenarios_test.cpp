// Plays every scenario of an authorization: as it is, compared with its transcript in test/transcripts/auth, and with
// an end at each of its steps. MCPBX_UPDATE=1 writes the transcripts anew.
#include "test/mcp/auth/scenarios.hpp"

#include "mcp/auth/flow/renewal.hpp"
#include "mcp/support/percent.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace mcpbx::auth;
using namespace mcpbx::auth::flow;
using mcpbx::errc;
using mcpbx::test::auth_scenario;
using mcpbx::test::auth_scenarios;
using mcpbx::test::scenario_leg;
using mcpbx::test::scripted_authorization;
using kind = authorization::step::kind;

const std::filesystem::path folder = MCPBX_SOURCE_DIR "/test/transcripts/auth";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A world in which the legs of a scenario are played one after another.
struct stage {
  scripted_authorization world;
  authorization::options options = scripted_authorization::options();

  void enter(const scenario_leg& leg) {
    options.challenge = read_bearer_challenge(leg.challenge).value();
    if (leg.change) leg.change(world, options);
  }
  void keep(const authorization& flow) {
    if (flow.now().type == kind::finished) options.before = flow.granted();
  }
};

std::string end_of(const grant& g) {
  std::string told = "granted by " + g.issuer + "\n  Authorization: Bearer " + g.access_token.reveal() + "\n";
  if (!g.resource.empty()) told += "  resource: " + g.resource + "\n";
  if (!g.scopes.empty()) told += "  scopes: " + joined_scopes(g.scopes) + "\n";
  if (!g.refresh_token.empty()) told += "  refresh token: " + g.refresh_token.reveal() + "\n";
  return told + "\n";
}

std::string played(const auth_scenario& s) {
  stage on;
  std::string& told = on.world.told;
  told = "# " + std::string(s.title) + "\n\n";
  std::optional<grant> held;
  for (const auto& leg : s.legs) {
    on.enter(leg);
    told += "refused " + on.options.server_url + "\n  WWW-Authenticate: " + std::string(leg.challenge) + "\n\n";
    authorization flow(on.options, on.world.secrets);
    on.world.play(flow);
    on.keep(flow);
    held.reset();
    if (flow.now().type == kind::finished) held = flow.granted();
    told += held ? end_of(*held) : "failed\n  " + flow.now().problem.message + "\n\n";
  }
  CHECK(held.has_value() == s.ends_well);
  if (s.renews && held) {
    on.world.at["https://as.example.com/token"].body =
        R"({"access_token":"token-2","refresh_token":"refresh-2","expires_in":3600})";
    const auto request = renewal_request(*held, 3'600'000, on.options.key, on.world.secrets);
    REQUIRE(request);
    const auto next = renewed(*held, on.world.answer_to(*request), 3'600'000);
    REQUIRE(next);
    told += end_of(*next);
  }
  told.pop_back();
  return told;
}

TEST_CASE("authorization: each scenario is played as its transcript says") {
  std::set<std::string> files;
  for (const auto& s : auth_scenarios()) {
    CAPTURE(s.name);
    const auto file = folder / (std::string(s.name) + ".txt");
    files.insert(file.filename().string());
    const std::string now = played(s);
    if (std::getenv("MCPBX_UPDATE") != nullptr) std::ofstream(file, std::ios::binary) << now;
    CHECK_MESSAGE(text_of(file) == now, "run this test with MCPBX_UPDATE=1 and look at the difference");
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    CHECK_MESSAGE(files.contains(entry.path().filename().string()), entry.path());
}

// The ways in which a step may end that was to be done.
enum class fault : unsigned char { dropped, unreachable, refused, failed, page, left };

// Ends the present step so. Returns false if that step cannot end in this way.
bool break_step(authorization& flow, fault how) {
  const bool fetches = flow.now().type == kind::fetch;
  switch (how) {
    case fault::dropped:
      return true;  // the flow is destroyed as it is
    case fault::unreachable:
      if (fetches) flow.unreachable("cannot be asked: the connection was reset");
      return fetches;
    case fault::refused:
      if (fetches) flow.answered({400, R"({"error":"invalid_request"})"}, 1'000);
      return fetches;
    case fault::failed:
      if (fetches) flow.answered({503, ""}, 1'000);
      return fetches;
    case fault::page:
      if (fetches) flow.answered({200, "<html>log in to the network</html>"}, 1'000);
      return fetches;
    case fault::left:
      break;
  }
  if (flow.now().type != kind::browse) return false;
  const auto fields = read_form(std::string_view(flow.now().url).substr(flow.now().url.find('?') + 1)).value();
  flow.redirected("error=access_denied&state=" + std::string(form_value(fields, "state")) +
                      "&iss=" + mcpbx::percent_encoded(flow.issuer()),
                  1'000);
  return true;
}

// A flow that is over must not be moved by anything that comes late.
void check_over(authorization& flow) {
  const std::string said = flow.now().problem.message;
  flow.answered({200, R"({"access_token":"late"})"}, 2'000);
  flow.unreachable("is late");
  flow.listening("http://127.0.0.1:1/callback");
  CHECK(flow.redirected("code=late&state=late", 1'000) == redirect_answer::kind::not_ours);
  CHECK(flow.now().type == kind::failed);
  CHECK(flow.now().problem.message == said);
}

// Plays one leg up to step `at`, ends it there, then plays it whole as the next try does. Returns false behind the last
// step.
bool break_leg(stage& on, int at, fault how) {
  {
    authorization flow(on.options, on.world.secrets);
    int done = 0;
    while (done < at && on.world.step(flow)) ++done;
    if (flow.now().type == kind::finished || flow.now().type == kind::failed) return false;
    if (!break_step(flow, how)) return true;
    if (how != fault::dropped) {
      // Some documents may be missing; the flow then looks for others. It never ends well without a token.
      on.world.play(flow);
      if (flow.now().type == kind::failed) {
        CHECK(flow.now().problem.message.starts_with("server \"files\": "));
        const std::string state = on.world.browsed("state");
        CHECK((state.empty() || !flow.now().problem.message.contains(state)));
        CHECK(flow.granted().access_token.empty());
        check_over(flow);
      } else {
        CHECK(flow.now().type == kind::finished);
      }
    }
  }
  authorization next(on.options, on.world.secrets);
  on.world.play(next);
  CHECK(next.now().type == kind::finished);
  return true;
}

TEST_CASE("authorization: an end at any step of any scenario leaves nothing and the next try ends well") {
  int broken = 0;
  for (const auto& s : auth_scenarios()) {
    if (!s.ends_well) continue;
    CAPTURE(s.name);
    stage on;
    for (const auto& leg : s.legs) {
      on.enter(leg);
      for (const auto how :
           {fault::dropped, fault::unreachable, fault::refused, fault::failed, fault::page, fault::left}) {
        CAPTURE(static_cast<int>(how));
        for (int at = 0; break_leg(on, at, how); ++at) ++broken;
      }
      authorization flow(on.options, on.world.secrets);
      on.world.play(flow);
      on.keep(flow);
    }
  }
  CHECK(broken > 500);
}

}  // namespace
