// Recording a model into a file and playing it, with real files and the blocking work done when the test says so.
#include "providers/call/replay_model.hpp"

#include "mcp/redact/secret.hpp"
#include "providers/call/recording_model.hpp"
#include "test/providers/replay/replayed_conversation.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

using namespace mcpbx;
using namespace mcpbx::providers;
using namespace mcpbx::providers::call;
using namespace mcpbx::redact;
using namespace mcpbx::test;
namespace fs = std::filesystem;

namespace {

struct told_replay : model_events {
  std::vector<std::string> deltas;
  std::string text, error;
  std::vector<std::string> ids;
  int ends = 0;
  std::function<void()> at_delta;
  void on_text(std::string_view d) override {
    deltas.emplace_back(d);
    if (at_delta) at_delta();
  }
  void on_reasoning(std::string_view d) override { deltas.push_back("(" + std::string(d) + ")"); }
  void on_reply(model_reply r) override {
    ++ends;
    text = r.message->text();
    for (const auto* c : r.message->calls()) ids.push_back(c->id);
  }
  void on_error(model_error e) override {
    ++ends;
    CHECK_FALSE(e.retryable);
    error = e.message;
    failure = std::move(e);
  }
  model_error failure;
};

/// Says what the last message asks for, in two pieces after a thought; "fail" fails, "break" breaks off, "no key" is an
/// error of the configuration, "call" calls a tool.
class echo_model final : public model {
 public:
  explicit echo_model(std::deque<std::function<void()>>& later) : later_(later) {}
  const std::string& name() const override { return name_; }
  const std::string& id() const override { return id_; }
  const std::string& api() const override { return spoken; }
  std::string_view default_system() const override { return system; }
  std::unique_ptr<model_call> prepare(model_request request, model_events& events) override {
    return std::make_unique<running>(*this, std::move(request), events);
  }
  std::string spoken = "openai-chat", system;
  int started = 0;

 private:
  void asked(const model_request& request, const std::shared_ptr<bool>& alive, model_events& events) {
    ++started;
    later_.push_back([alive, text = request.messages.back()->text(), &events] {
      if (!*alive) return;
      if (text == "fail")
        return events.on_error({model_error::kind::refused, 500, 2'000, "it said canary-2", "", "", "", false});
      if (text == "no key")
        return events.on_error({model_error::kind::configuration, 0, -1, "no key", "", "", "", false});
      if (text == "call") return events.on_reply(reply_of(calls({call_of("id-1", "s__echo", "{}")})));
      events.on_reasoning("hm");
      if (*alive) events.on_text("you said ");
      if (*alive && text == "break")
        return events.on_error({model_error::kind::cut, 200, -1, "it broke", "you said ", "", "", false});
      if (*alive) events.on_text(text);
      if (*alive) events.on_reply(reply_of(says("you said " + text)));
    });
  }

  struct running final : model_call {
    running(echo_model& m, model_request r, model_events& e) : owner(m), request(std::move(r)), events(e) {}
    ~running() override { *alive = false; }
    void begin() override { owner.asked(request, alive, events); }
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
    echo_model& owner;
    model_request request;
    model_events& events;
  };
  std::deque<std::function<void()>>& later_;
  std::string name_ = "gpt", id_ = "gpt-x";
};

struct fixture {
  temporary_directory folder;
  std::string path = folder / "talk.jsonl";
  std::deque<std::function<void()>> later;
  counting_random random;
  std::shared_ptr<echo_model> gpt = std::make_shared<echo_model>(later);
  offload blocking = [this](std::function<void()> work, std::function<void(result<void>)> done) {
    later.push_back([work = std::move(work), done = std::move(done)] {
      work();
      done({});
    });
  };

  void settle() {
    while (!later.empty()) {
      auto next = std::move(later.front());
      later.pop_front();
      next();
    }
  }
  std::unique_ptr<model> recorder(std::optional<std::string> system = {}) {
    return make_recording_model({"talk", path, std::move(system)}, gpt, random, blocking);
  }
  std::unique_ptr<model> player() {
    auto header = read_recording_header(path);
    REQUIRE_MESSAGE(header.has_value(), (header ? "" : header.error().message));
    return make_replay_model({"talk", path, *header, {}}, blocking);
  }
  told_replay ask(model& m, const model_request& request) {
    told_replay t;
    const auto call = m.start(request, t);
    CHECK(t.ends == 0);
    settle();
    CHECK(t.ends == 1);
    return t;
  }
  told_replay ask(model& m, std::string text) { return ask(m, asked({user_message(std::move(text))})); }
  std::string content() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

}  // namespace

TEST_CASE("replay: what was recorded in pieces is played in pieces, with the original gone") {
  fixture f;
  {
    const auto m = f.recorder();
    CHECK((m->name() == "talk" && m->id() == "gpt-x" && m->api() == "openai-chat"));
    const auto live = f.ask(*m, "one");
    CHECK(live.deltas == std::vector<std::string>{"(hm)", "you said ", "one"});
    CHECK(live.text == "you said one");
    f.ask(*m, "two");
  }
  f.gpt.reset();
  struct stat info{};
  REQUIRE(::stat(f.path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  const auto m = f.player();
  CHECK((m->name() == "talk" && m->api() == "openai-chat"));
  const auto two = f.ask(*m, "two");
  CHECK(two.deltas == std::vector<std::string>{"(hm)", "you said ", "two"});
  CHECK(two.text == "you said two");
  CHECK(f.ask(*m, "one").text == "you said one");
  CHECK(f.ask(*m, "one").text == "you said one");
}

TEST_CASE("replay: a conversation that is not recorded is an error that says what differs and is not tried again") {
  fixture f;
  f.ask(*f.recorder(), "one");
  const auto t = f.ask(*f.player(), "three");
  CHECK(t.deltas.empty());
  CHECK(t.error == "The model \"talk\" replays " + f.path +
                       ", and this conversation is not in it: message 1 (user) differs in its text: recorded there is "
                       "\"one\", and \"three\" came. Record it with \"record\" in the entry of the model.");
}

TEST_CASE("replay: answers to the same conversation take turns, also in runs at the same time") {
  fixture f;
  replay::exchange_writer writer;
  const auto r = f.recorder();
  f.ask(*r, "one");
  const auto entry = writer.make(asked({user_message("one")}), reply_of(says("again")), {});
  std::ofstream(f.path, std::ios::app) << entry.line;
  const auto m = f.player();
  told_replay first, second, third;
  const auto a = m->start(asked({user_message("one")}), first), b = m->start(asked({user_message("one")}), second),
             c = m->start(asked({user_message("one")}), third);
  CHECK(f.later.size() == 1);  // they wait for the same look at the file
  f.settle();
  CHECK((first.text == "you said one" && second.text == "again" && third.text == "you said one"));
}

TEST_CASE("replay: a call whose id the conversation has already comes without one") {
  fixture f;
  f.ask(*f.recorder(), "call");
  const auto again = asked({user_message("x"), calls({call_of("id-1", "s__echo", "{}")}),
                            results({result_of("id-1", "r")}), user_message("call")});
  f.ask(*f.recorder(), again);
  const auto m = f.player();
  CHECK(f.ask(*m, "call").ids == std::vector<std::string>{"id-1"});
  CHECK(f.ask(*m, again).ids == std::vector<std::string>{""});
}

TEST_CASE("replay: an error of the model is played as it was, after the text that came before it") {
  fixture f;
  redactor::add(secret("canary-2"));
  const auto r = f.recorder();
  const auto live = f.ask(*r, "fail"), broken = f.ask(*r, "break");
  CHECK(live.error == "it said canary-2");
  CHECK(broken.deltas == std::vector<std::string>{"(hm)", "you said "});
  CHECK_FALSE(contains(f.content(), "canary"));
  redactor::clear();
  const auto p = f.player();
  const auto played = f.ask(*p, "fail");
  CHECK((played.error == "it said ***" && played.failure.type == model_error::kind::refused));
  CHECK((played.failure.http_status == 500 && played.failure.retry_after_ms == 2'000));
  const auto again = f.ask(*p, "break");
  CHECK(again.deltas == broken.deltas);
  CHECK((again.error == "it broke" && again.failure.type == model_error::kind::cut));
  CHECK(again.failure.partial_text == "you said ");
}

TEST_CASE("replay: an error that cannot be recorded stays what it is and says so") {
  fixture f;
  told_replay t;
  const auto m = f.recorder();
  const auto call = m->start(asked({user_message("fail")}), t);
  f.later.front()();
  f.later.pop_front();
  fs::remove(f.path);
  fs::create_directory(f.path);
  f.settle();
  CHECK(t.failure.type == model_error::kind::refused);
  CHECK(t.failure.http_status == 500);
  CHECK_MESSAGE(t.error.starts_with("it said canary-2 (This is not recorded: the recording " + f.path), t.error);
}

TEST_CASE("replay: a key that is missing and calls that were left are not recorded, and who left is told nothing") {
  fixture f;
  const auto r = f.recorder();
  CHECK(f.ask(*r, "no key").error == "no key");
  told_replay t;
  auto call = r->start(asked({user_message("left")}), t);
  t.at_delta = [&] { call.reset(); };
  f.settle();
  CHECK((t.ends == 0 && t.deltas.size() == 2));
  CHECK(f.content() == replay::to_line(replay::header{"openai-chat", "", "0000000000000001"}));
  f.ask(*r, "one");
  const auto p = f.player();
  told_replay u;
  call = p->start(asked({user_message("one")}), u);
  u.at_delta = [&] { call.reset(); };
  f.settle();
  CHECK((u.ends == 0 && u.deltas.size() == 2));
  told_replay v;
  call = p->start(asked({user_message("one")}), v);
  call.reset();
  f.settle();
  CHECK((v.ends == 0 && v.deltas.empty()));
}

TEST_CASE("replay: the system prompt of the recorded model holds when it is played") {
  fixture f;
  f.gpt->system = "Be brief.";
  CHECK(f.recorder()->default_system() == "Be brief.");
  CHECK(f.recorder("Be long.")->default_system() == "Be long.");
  f.ask(*f.recorder(), "one");
  CHECK(f.player()->default_system() == "Be brief.");
  CHECK(make_replay_model({"talk", f.path, {}, "Own."}, f.blocking)->default_system() == "Own.");
  // Another one would never match what is in the file.
  const auto t = f.ask(*f.recorder("Be long."), "one");
  CHECK(contains(t.error, "was made with another system prompt of the model; name another file"));
  CHECK(f.gpt->started == 1);
  f.gpt->spoken = "anthropic";
  CHECK(contains(f.ask(*f.recorder(), "one").error, "was made with a model of the API openai-chat"));
}

TEST_CASE("replay: a file that was recorded anew is read anew") {
  fixture f;
  f.ask(*f.recorder(), "one");
  const auto m = f.player();
  CHECK(f.ask(*m, "one").text == "you said one");
  CHECK_FALSE(f.ask(*m, "two").error.empty());
  f.ask(*f.recorder(), "two");
  CHECK(f.ask(*m, "two").text == "you said two");
  fs::remove(f.path);
  CHECK(contains(f.ask(*m, "two").error, "cannot be read: No such file or directory; record it first"));
}

TEST_CASE("replay: a recording that is replaced or removed meanwhile gets whole conversations") {
  fixture f;
  const auto m = f.recorder();
  const auto first = asked({user_message("one")});
  const auto longer = asked({user_message("one"), says("you said one"), user_message("two")});
  f.ask(*m, first);
  fs::remove(f.path);
  f.ask(*m, longer);
  CHECK(f.ask(*f.player(), longer).text == "you said two");
  // While the model answers.
  told_replay t;
  const auto call = m->start(asked({user_message("one"), says("you said one"), user_message("three")}), t);
  f.later.front()();
  f.later.pop_front();
  fs::remove(f.path);
  f.settle();
  CHECK(t.text == "you said three");
  CHECK(f.ask(*f.player(), asked({user_message("one"), says("you said one"), user_message("three")})).text ==
        "you said three");
}

TEST_CASE("replay: what a crash left of a last line is cut off before the next") {
  fixture f;
  f.ask(*f.recorder(), "one");
  const auto whole = f.content();
  std::ofstream(f.path, std::ios::app) << std::string(100'000, 'x');
  f.ask(*f.recorder(), "two");
  CHECK(f.content().starts_with(whole + "{\"type\":\"exchange\""));
  CHECK(f.ask(*f.player(), "two").text == "you said two");
}

TEST_CASE("replay: files that cannot be used are refused before the model is asked, and stay as they are") {
  fixture f;
  std::ofstream(f.path) << "my notes";
  CHECK(contains(f.ask(*f.recorder(), "one").error,
                 "The exchange with the model \"gpt\" is not recorded: the recording "));
  CHECK(contains(f.ask(*f.recorder(), "one").error, "is no recording of mcpbx"));
  CHECK(f.content() == "my notes");
  f.path = f.folder / "none/talk.jsonl";
  CHECK(contains(f.ask(*f.recorder(), "one").error, "cannot be written: No such file or directory; make its folder"));
  CHECK(read_recording_header(f.path).error().code == errc::not_found);
  f.path = f.folder.path();
  CHECK(contains(f.ask(*f.recorder(), "one").error, f.path));
  CHECK(contains(read_recording_header(f.path).error().message, "it is no regular file"));
  f.path = f.folder / "large";
  std::ofstream(f.path) << replay::to_line(replay::header{"openai-chat", "", ""});
  fs::resize_file(f.path, replay::max_file + 1);
  CHECK(contains(read_recording_header(f.path).error().message, "has more than 64 MiB"));
  CHECK(f.gpt->started == 0);
}

TEST_CASE("replay: an exchange that is too long for a line is an error and leaves the file as it was") {
  fixture f;
  f.ask(*f.recorder(), "one");
  const auto before = f.content();
  CHECK(contains(f.ask(*f.recorder(), std::string(replay::max_line, 'x')).error, "takes lines of up to 16 MiB"));
  CHECK(f.content() == before);
}

TEST_CASE("replay: secrets reach the model and the caller but not the file, and the recording still matches") {
  fixture f;
  redactor::add(secret("canary-1"));
  CHECK(f.ask(*f.recorder(), "say canary-1").text == "you said say canary-1");
  CHECK_FALSE(contains(f.content(), "canary"));
  const auto t = f.ask(*f.player(), "say canary-1");
  CHECK(t.text == "you said say ***");
  CHECK(t.deltas == std::vector<std::string>{"(hm)", "you said say ***"});
  redactor::clear();
}
