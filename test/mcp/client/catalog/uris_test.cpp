// URIs: templates that match them, patterns that judge them, the table of those that were seen in results.
#include "mcp/client/catalog/item_filter.hpp"
#include "mcp/client/catalog/seen_uris.hpp"
#include "mcp/protocol/resources.hpp"
#include "mcp/protocol/uri_template.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::mcp::catalogs;
using namespace mcpbx::mcp::protocol;

namespace {

bool matches(std::string_view pattern, std::string_view uri) {
  const auto parsed = uri_template::parse(pattern);
  std::size_t budget = 1'000'000;
  return parsed && parsed->matches(uri, budget);
}

uri_filter allowing(std::string glob) {
  return uri_filter({.allow = {std::move(glob)}, .deny = {}});
}
uri_filter denying(std::string glob) {
  return uri_filter({.allow = {}, .deny = {std::move(glob)}});
}

}  // namespace

TEST_CASE("templates of the levels 1 to 3 match their expansions and nothing else") {
  const struct {
    const char *pattern, *uri;
    bool fits;
  } table[] = {
      {"test://template/{id}/data", "test://template/7/data", true},
      {"test://template/{id}/data", "test://template/a%2Fb/data", true},
      {"test://template/{id}/data", "test://template/a/b/data", false},
      {"test://template/{id}/data", "test://template/7/data/more", false},
      {"test://template/{id}/data", "test://template/7/dat", false},
      {"users://{a}-{b}.txt", "users://x-y-z.txt", true},
      {"users://{a},{b}", "users://x", false},
      {"map://{x,y}", "map://1024,768", true},
      {"file:///{+path}", "file:///a/b/c.txt?x#y", true},
      {"file:///{+dir}/{name}", "file:///a/b/c", true},
      {"file:///{+dir}/{name}", "file:///a", false},
      {"doc:a{#part}", "doc:a#b/c", true},
      {"doc:a{#part}", "doc:a", true},
      {"doc:a{#part}", "doc:ab", false},
      {"doc:a{.ext}", "doc:a.tar.gz", true},
      {"doc:a{.ext}", "doc:a.b/c", false},
      {"x://h{/a,b}", "x://h/1/2", true},
      {"x://h{/a,b}", "x://h1/2", false},
      {"x://h{/a}/end", "x://h/1/end", true},
      {"x://h{;a}", "x://h;a=1", true},
      {"x://h{?q,page}", "x://h?q=1&page=2", true},
      {"x://h{?q}", "x://h", true},
      {"x://h{?q}", "x://hq=1", false},
      {"x://h?fixed=1{&q}", "x://h?fixed=1&q=2", true},
      {"x://h?fixed=1{&q}", "x://h?fixed=1q=2", false},
      {"plain:uri", "plain:uri", true},
      {"plain:uri", "plain:uri2", false},
      {"{+anything}", "any:thing", true},
  };
  for (const auto& [pattern, uri, fits] : table) {
    CAPTURE(pattern);
    CAPTURE(uri);
    CHECK(matches(pattern, uri) == fits);
  }
}

TEST_CASE("a text that is no template matches nothing") {
  for (const auto* text : {"a:{", "a:}", "a:{b", "a:{}", "a:{b{c}}", "a:b}c"}) {
    CAPTURE(text);
    CHECK_FALSE(uri_template::parse(text));
  }
  std::string many = "a:";
  for (std::size_t i = 0; i <= uri_template::most_expressions; ++i) many += "{x}";
  CHECK_FALSE(uri_template::parse(many));
}

TEST_CASE("a hostile template costs its budget and then matches nothing") {
  std::string hostile = "a:";
  for (std::size_t i = 0; i < uri_template::most_expressions; ++i) hostile += "{+x}" + std::string(200, 'a');
  const auto parsed = uri_template::parse(hostile);
  REQUIRE(parsed);
  std::size_t budget = 100'000;
  CHECK_FALSE(parsed->matches("a:" + std::string(longest_uri, 'a'), budget));
  CHECK(budget == 0);
  // The same template is cheap to refuse where its beginning differs.
  budget = 1000;
  CHECK_FALSE(parsed->matches("b:x", budget));
  CHECK(budget == 1000);
}

TEST_CASE("a template without a scheme of its own is open") {
  CHECK(uri_template::parse("{+uri}")->is_open());
  CHECK(uri_template::parse("{scheme}://x")->is_open());
  CHECK_FALSE(uri_template::parse("file:///{+path}")->is_open());
}

TEST_CASE("a denial holds for every spelling of a URI") {
  const auto filter = denying("file:///home/me/.ssh/*");
  for (const auto* uri : {"file:///home/me/.ssh/id", "FILE:///home/me/.ssh/id", "file:///home/me/.SSH/id",
                          "file:///home/me/%2Essh/id", "file:///home/me/%252essh/id", "file:///home/me/x/../.ssh/id",
                          "file:///home/me/./.ssh/id", "file:///home/me//.ssh/id", "file:///home/me/x/%2E%2e/.ssh/id",
                          "file:///home%2Fme%2F.ssh%2Fid", "file:///%2525252525252E"}) {
    CAPTURE(uri);
    CHECK_FALSE(filter.passes(uri));
  }
  CHECK(filter.passes("file:///home/me/notes/a"));
  CHECK_FALSE(denying("FILE:///Home/*").passes("file:///home/x"));
  CHECK_FALSE(denying("file:///a%20b/*").passes("file:///a b/c"));
}

TEST_CASE("a denial holds for what servers of other habits would take a URI for") {
  const auto filter = denying("file:///home/me/.ssh/*");
  for (const auto* uri :
       {"file:/home/me/.ssh/id", "file://localhost/home/me/.ssh/id", "file://other/home/me/.ssh/id",
        R"(file:\\\home\me\.ssh\id)", "file:///home/me/%2e/../.ssh/id", "file:///home/me/a%2Fb/../.ssh/id",
        "file:///home/me/.ssh/id?/../../../x", " file:///home/me/.ssh/id", "file:///home/me/.s\tsh/id",
        "file:///home/me/.s%0Ash/id", "file:///home/me/%2E%53SH/id"}) {
    CAPTURE(uri);
    CHECK_FALSE(filter.passes(uri));
  }
  const auto one = denying("file:///etc/passwd");
  for (const auto* uri :
       {"file:///etc/passwd#a", "file:///etc/passwd?a=b", "file:///etc/passwd%3Fa", "file:/etc/passwd"}) {
    CAPTURE(uri);
    CHECK_FALSE(one.passes(uri));
  }
  CHECK(one.passes("file:///etc/passwd.txt"));
  const auto host = denying("https://intranet/*");
  for (const auto* uri :
       {"https://intranet:443/a", "https://me@intranet/a", "HTTPS://INTRANET./a", "https://intranet:/a"}) {
    CAPTURE(uri);
    CHECK_FALSE(host.passes(uri));
  }
  CHECK(host.passes("https://intranet:8443/a"));
  // A denied host of file: says nothing of local files.
  CHECK(denying("file://nas/*").passes("file:///home/x"));
  CHECK_FALSE(denying("file://nas/*").passes("file://nas/x"));
  CHECK_FALSE(denying("file:/etc/*").passes("file:///etc/x"));
  CHECK_FALSE(denying("file://localhost/etc/*").passes("file:///etc/x"));
  CHECK_FALSE(denying("https://intranet:443/*").passes("https://intranet/a"));
}

TEST_CASE("a denied host holds for every spelling that clients of the web take for it") {
  const auto filter = denying("https://internal.example/*");
  for (const auto* uri : {"https:////internal.example/x",
                          "https:///internal.example/x",
                          R"(https://\internal.example/x)",
                          R"(https:/\/internal.example/x)",
                          "https:internal.example/x",
                          "https:/internal.example/x",
                          "https://internal.example:0443/x",
                          "https://internal.example:00443/x",
                          "https://internal.example:/x",
                          "https://user:word@internal.example:443/x",
                          R"(https://other.example\@internal.example/x)",
                          "https://internal.example../x",
                          "https://internal.example",
                          "https://internal.example?x",
                          "https://internal.example#x",
                          "https://internal.example:443?x",
                          "https:/%2Finternal.example/x",
                          "https://internal%2Eexample/x",
                          "https://\xEF\xBD\x89nternal.example/x",
                          "https://internal\xE3\x80\x82"
                          "example/x",
                          "https://int\xC2\xAD"
                          "ernal.example/x",
                          "https://int%C2%ADernal.example/x",
                          "https://%EF%BD%89nternal.example/x"}) {
    CAPTURE(uri);
    CHECK_FALSE(filter.passes(uri));
  }
  for (const auto* uri :
       {"https://internal.example:8443/x", "https://internal.example:4430/x",
        "https://other.example/internal.example/x", "https://other.example", "https://other.example/\xC3\xA4",
        "http://internal.example/x", "x:internal.example/x", "https://xn--bcher-kva.example/x"}) {
    CAPTURE(uri);
    CHECK(filter.passes(uri));
  }
  // A pattern beyond ASCII may mean any name in its ASCII form.
  CHECK_FALSE(denying("https://b\xC3\xBC"
                      "cher.example/*")
                  .passes("https://xn--bcher-kva.example/x"));
  CHECK(denying("https://intern?l.example/*").passes("https://other.example/x"));
  CHECK_FALSE(denying("https://intern?l.example:443/*").passes("https://internal.example/x"));
}

TEST_CASE("a denied address holds for every spelling of it") {
  const auto filter = denying("http://127.0.0.1/*");
  for (const auto* uri : {"http://2130706433/x", "http://0x7f000001/x", "http://0x7F.1/x", "http://0177.0.0.1/x",
                          "http://127.1/x", "http://127.0.1/x", "http://127.0.0.1./x", "http://127.0.0.1:80/x",
                          "http://[::ffff:127.0.0.1]/x", "http://[::FFFF:7f00:1]:80/x"}) {
    CAPTURE(uri);
    CHECK_FALSE(filter.passes(uri));
  }
  for (const auto* uri : {"http://127.0.0.2/x", "http://127.0.0.1.example/x", "http://1.2.3.4.5/x", "http://0x/x",
                          "http://256.1.1.1/x", "http://[::1]/x", "http://4294967296/x"}) {
    CAPTURE(uri);
    CHECK(filter.passes(uri));
  }
  CHECK_FALSE(denying("http://[::1]/*").passes("http://[0:0:0:0:0:0:0:1]/x"));
  // Servers read such hosts and ports each in their own way, so that nobody can say that they are not denied.
  for (const auto* uri : {"http://[::ffff:127.0.0.1%1]/x", "http://[::ffff:127.0.0.1%251]/x", "http://[::1%1]/x",
                          "http://[/x", "http://a[::1]/x", "http://[::1]x:1/x", "http://127.1:+80/x",
                          "http://127.1:4_4_0/x", "http://127.1: 80/x", "http://127.1:%2B80/x", "http://a:b:c/x"}) {
    CAPTURE(uri);
    CHECK_FALSE(filter.passes(uri));
  }
  CHECK(denying("http://127.0.0.1/*").passes("http://u:p@example:8080/x"));
}

TEST_CASE("an allowed pattern must match a URI as it is written and as it is meant") {
  const auto filter = allowing("file:///docs/*");
  CHECK(filter.passes("file:///docs/a"));
  CHECK(filter.passes("file:///docs/a%20b"));
  CHECK_FALSE(filter.passes("file:///docs/../secret"));
  CHECK_FALSE(filter.passes("file:///docs/%2e%2e/secret"));
  CHECK_FALSE(filter.passes("file:///docs/%252e%252e/secret"));
  CHECK_FALSE(filter.passes("file:///docs/a%2Fb/../../secret"));
  CHECK_FALSE(filter.passes(R"(file:///docs/..\secret)"));
  CHECK_FALSE(filter.passes("file:///x/../docs/a"));
  CHECK_FALSE(filter.passes("file:///other"));
  CHECK(allowing("file:///a%20b/*").passes("file:///a%20b/c"));
  CHECK_FALSE(allowing("file:///a%2A").passes("file:///abc"));
  CHECK(allowing("test://Static/*").passes("test://Static/x"));
}

TEST_CASE("without patterns every URI passes") {
  CHECK(uri_filter().passes("anything"));
  CHECK(uri_filter().empty());
  CHECK_FALSE(denying("*").passes("a:b"));
}

TEST_CASE("a URI leads to the first server that said it") {
  seen_uris table;
  table.add("b", "x:1");
  table.add("a", "x:1");
  const auto first = [&](std::string_view uri, const auto& allowed) {
    const std::string* name = table.first_to_say(uri, allowed);
    return name == nullptr ? std::string() : *name;
  };
  const auto all = [](const std::string&) { return true; };
  CHECK(first("x:1", all) == "b");
  CHECK(first("x:1", [](const std::string& s) { return s != "b"; }) == "a");
  CHECK(first("x:2", all).empty());
  CHECK(table.said("a", "x:1"));
  table.keep_only(std::vector<std::string>{"a"});
  CHECK(first("x:1", all) == "a");
  CHECK(table.size() == 1);
}

TEST_CASE("the table of seen URIs is bounded and a flood of one server pushes out its own only") {
  seen_uris table;
  for (int i = 0; i < 10; ++i) table.add("quiet", "q:" + std::to_string(i));
  for (int i = 0; i < 20'000; ++i) table.add("loud", "l:" + std::to_string(i));
  CHECK(table.size() == seen_uris::most_uris);
  CHECK(table.said("quiet", "q:0"));
  CHECK(table.said("loud", "l:19999"));
  CHECK_FALSE(table.said("loud", "l:0"));
  for (int i = 0; i < 2'000; ++i) table.add("loud", "l:" + std::string(8000, 'x') + std::to_string(i));
  CHECK(table.bytes() <= seen_uris::most_bytes);
  CHECK(table.said("quiet", "q:0"));
}

TEST_CASE("the oldest URI goes first and one that is said again is young") {
  seen_uris table;
  table.add("s", "first");
  for (std::size_t i = 1; i < seen_uris::most_uris; ++i) table.add("s", "u:" + std::to_string(i));
  table.add("s", "first");
  table.add("s", "one more");
  CHECK(table.said("s", "first"));
  CHECK_FALSE(table.said("s", "u:1"));
}

TEST_CASE("URIs that are empty, too long or hold control characters are not kept") {
  seen_uris table;
  table.add("s", "");
  table.add("s", std::string(longest_uri + 1, 'x'));
  table.add("s", "a:\n");
  CHECK(table.size() == 0);
  table.add("s", std::string(longest_uri, 'x'));
  CHECK(table.size() == 1);
}
