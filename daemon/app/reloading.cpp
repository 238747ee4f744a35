// The reading on a lane, and the replacement on the main thread.
#include "daemon/app/reloading.hpp"

#include "conf/show/config_view.hpp"
#include "daemon/app/configuration.hpp"
#include "daemon/app/options/process_settings.hpp"
#include "daemon/app/process/service.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <optional>
#include <utility>

namespace mcpbx::daemon::app {
namespace {

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? value->text : std::string();
}

std::string monotonic_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& w : words) out += (out.empty() ? "" : ", ") + w;
  return out;
}

using text_list = std::shared_ptr<const std::vector<conf::source_text>>;

text_list texts_of(std::vector<conf::read_source> read) {
  std::vector<conf::source_text> texts;
  for (auto& r : read) texts.push_back({std::move(r.path), std::move(r.text)});
  return std::make_shared<const std::vector<conf::source_text>>(std::move(texts));
}

/// Returns what the command line decides in place of the files.
std::vector<conf::show::view_override> overrides_of(const process::command_line& o) {
  std::vector<conf::show::view_override> out;
  if (!o.http.empty()) out.push_back({{"http", "address"}, json::json_quoted(o.http)});
  if (o.log_level) out.push_back({{"log", "level"}, json::json_quoted(log::to_string(*o.log_level))});
  return out;
}

}  // namespace

std::vector<std::string> waiting_for_start(const conf::model::configuration& at_start,
                                           const conf::model::configuration& now) {
  std::vector<std::string> keys;
  const auto differs = [&](std::string_view key, bool different) {
    if (different) keys.emplace_back(key);
  };
  const auto &a = at_start, &b = now;
  differs("store.url", text_of(a.store.url) != text_of(b.store.url));
  differs("store.maxAgeDays", a.store.max_age_days != b.store.max_age_days);
  differs("store.maxBytes", a.store.max_bytes != b.store.max_bytes);
  differs("store.sync", a.store.sync != b.store.sync);
  differs("audit", a.audit != b.audit);
  differs("http.address", text_of(a.http.address) != text_of(b.http.address));
  differs("http.tokenFile", text_of(a.http.token_file) != text_of(b.http.token_file));
  differs("http.auth", a.http.auth != b.http.auth);
  differs("limits.maxMessageBytes", a.limits.max_message_bytes != b.limits.max_message_bytes);
  differs("limits.maxJsonDepth", a.limits.max_json_depth != b.limits.max_json_depth);
  differs("limits.callers", a.limits.callers != b.limits.callers);
  differs("limits.heldCallMs", a.limits.held_call_ms != b.limits.held_call_ms);
  differs("loop.resumeDetached", a.loop.resume_detached != b.loop.resume_detached);
  differs("idleExitMs", a.idle_exit_ms != b.idle_exit_ms);
  return keys;
}

/// A reading of all files: a snapshot and its world, or the errors.
struct reloading::outcome {
  references::configuration_ptr read;
  std::optional<started_world> world;
  text_list texts;
  std::string errors;
};

reloading::reloading(base_parts& base, const process::command_line& o, references::current_configuration& current,
                     started_world& world, std::vector<conf::read_source> read)
    : base_(base),
      options_(o),
      current_(current),
      world_(world),
      at_start_(current.snapshot()),
      texts_(texts_of(std::move(read))),
      watch_(base.executor(), base.time, lane_, [this] { follow_change(); }) {
  watch();
}

void reloading::watch() {
  const auto& config = current_.snapshot()->config;
  watch_.set_files(config.watch ? config.sources : std::vector<std::string>());
}

reloading::~reloading() {
  stop();
}

void reloading::ask(const std::string& why, front::reload_answer then) {
  if (stopped_) return then(fail(errc::unavailable, "mcpbx is stopping"));
  auto& waiting = busy_ ? next_ : reading_;
  if (waiting.size() >= most_waiting)
    return then(fail(errc::limit, "too many requests wait for a reload; it reads the files once for all of them"));
  waiting.push_back(std::move(then));
  why_ = why;
  if (!busy_) begin();
}

void reloading::begin() {
  busy_ = true;
  log::info("reading the configuration again: " + why_);
  process::notify_service_manager("RELOADING=1\nMONOTONIC_USEC=" + monotonic_us());
  auto posted = lane_.post(
      [self = std::weak_ptr(self_), executor = base_.executor(), o = options_, idle_exit = world_.exits_when_idle()] {
        outcome read;
        auto loaded = load_configuration(o);
        if (loaded.ok()) {
          read.world.emplace(conf::environment_for_places(), files_of(o), loaded.config, loaded.read, idle_exit);
          read.read = std::make_shared<const references::configuration_snapshot>(std::move(loaded.config));
          read.texts = texts_of(std::move(loaded.read));
        } else {
          read.errors = loaded.error_text();
        }
        boost::asio::post(executor, [self, read = std::move(read)]() mutable {
          if (const auto here = self.lock()) (*here)->take(std::move(read));
        });
      });
  if (posted) return;
  boost::asio::post(base_.executor(), [self = std::weak_ptr(self_), why = posted.error().message] {
    if (const auto here = self.lock()) (*here)->take({{}, {}, {}, why + "\n"});
  });
}

void reloading::take(outcome read) {
  if (stopped_) return;
  const auto told = put_in_force(read);
  process::notify_service_manager("READY=1");
  busy_ = false;
  // Requests that came meanwhile want what the files say by now.
  auto waiting = std::exchange(reading_, std::exchange(next_, {}));
  const auto self = std::weak_ptr(self_);
  if (!reading_.empty()) begin();
  for (const auto& then : waiting) {
    then(told);
    if (self.expired()) return;
  }
}

result<front::reload_report> reloading::put_in_force(outcome& read) {
  if (!read.read) {
    const auto why =
        "the configuration is wrong, and the one before stays in force:\n" + std::string(trimmed(read.errors));
    log::error(why);
    return fail(errc::config, why);
  }
  const auto& config = read.read->config;
  log::set_threshold(options::log_level_of(options_, config));
  byte_account::set_limit(options::byte_limit_of(config));
  current_.replace(read.read);
  world_ = std::move(*read.world);
  texts_ = std::move(read.texts);
  watch();
  if (carry_out_) carry_out_(read.read);
  front::reload_report report{config.sources, waiting_for_start(at_start_->config, config), {}};
  for (const auto& n : config.notices) {
    log::warn(n.text());
    report.notices.push_back(n.text());
  }
  if (!report.waiting.empty())
    log::warn("these keys have changed and hold from the daemon's next start: " + joined(report.waiting));
  log::info("the configuration is in force");
  return report;
}

void reloading::tell(front::config_answer then) {
  if (stopped_) return then(fail(errc::unavailable, "mcpbx is stopping"));
  if (telling_.size() >= most_waiting) return then(fail(errc::limit, "too many requests wait for the configuration"));
  telling_.push_back(std::move(then));
  if (telling_.size() > 1) return;
  auto posted = lane_.post(
      [self = std::weak_ptr(self_), executor = base_.executor(), texts = texts_, overrides = overrides_of(options_)] {
        auto view = conf::show::config_view(*texts, conf::environment_for_places(), overrides);
        boost::asio::post(executor, [self, view = std::move(view)] {
          if (const auto here = self.lock()) (*here)->told(json::raw_json::own(view));
        });
      });
  if (posted) return;
  boost::asio::post(base_.executor(), [self = std::weak_ptr(self_), why = posted.error()] {
    if (const auto here = self.lock()) (*here)->told(std::unexpected(why));
  });
}

void reloading::told(result<json::raw_json> view) {
  if (view) {
    const auto& config = current_.snapshot()->config;
    std::string json;
    json::json_writer out(json);
    const auto list = [&](std::string_view key, const std::vector<std::string>& texts) {
      out.key(key).begin_array();
      for (const auto& t : texts) out.value(t);
      out.end_array();
    };
    out.begin_object();
    list("files", config.sources);
    out.member("config", json::find_member(*view, "config")).member("origins", json::find_member(*view, "origins"));
    list("fromNextStart", waiting_for_start(at_start_->config, config));
    out.end_object();
    view = json::raw_json::own(json);
  }
  const auto self = std::weak_ptr(self_);
  for (const auto& then : std::exchange(telling_, {})) {
    then(view);
    if (self.expired()) return;
  }
}

// Reads the files again once they are seen to have changed. However long they take to answer, the change is not lost.
void reloading::follow_change() {
  if (stopped_) return;
  follows_again_ = following_;
  if (std::exchange(following_, true)) return;
  add_look(
      [this](const std::vector<std::string>& changed) {
        following_ = false;
        const bool again = std::exchange(follows_again_, false);
        if (!changed.empty()) return ask("a file has changed", [](const result<front::reload_report>&) {});
        if (again) follow_change();
      },
      nullptr);
}

void reloading::look(std::function<void(const std::vector<std::string>&)> then, milliseconds at_most) {
  if (stopped_ || looks_.size() >= most_waiting) return then({});
  auto limit = base_.time.make_timer();
  limit->arm(base_.time.now() + at_most, [this, number = last_look_ + 1] { looked(number, {}); });
  add_look(std::move(then), std::move(limit));
}

void reloading::add_look(std::function<void(const std::vector<std::string>&)> then, std::unique_ptr<timer> limit) {
  looks_.emplace(++last_look_, waiting_look{std::move(then), std::move(limit)});
  if (!looking_) begin_look();
}

// Looks once for all that wait. A mount that does not answer holds one look, and those that give up leave none behind.
void reloading::begin_look() {
  looking_ = true;
  auto back = [self = std::weak_ptr(self_), executor = base_.executor(),
               number = last_look_](std::vector<std::string> changed) {
    boost::asio::post(executor, [self, number, changed = std::move(changed)] {
      if (const auto here = self.lock()) (*here)->looked_until(number, changed);
    });
  };
  if (const auto posted = lane_.post([back, files = world_.files()] { back(files->changed()); }); !posted) back({});
}

void reloading::looked_until(std::uint64_t number, const std::vector<std::string>& changed) {
  if (stopped_) return;
  looking_ = false;
  const auto self = std::weak_ptr(self_);
  while (!looks_.empty() && looks_.begin()->first <= number) {
    looked(looks_.begin()->first, changed);
    if (self.expired()) return;
  }
  if (!looking_ && !looks_.empty()) begin_look();
}

void reloading::looked(std::uint64_t number, const std::vector<std::string>& changed) {
  const auto found = looks_.extract(number);
  if (!found.empty()) found.mapped().then(changed);
}

void reloading::stop() {
  if (std::exchange(stopped_, true)) return;
  watch_.set_files({});
  self_.reset();
  const error why{errc::unavailable, "mcpbx is stopping"};
  auto waiting = std::exchange(reading_, {});
  for (auto& then : std::exchange(next_, {})) waiting.push_back(std::move(then));
  for (const auto& then : waiting) then(std::unexpected(why));
  for (const auto& then : std::exchange(telling_, {})) then(std::unexpected(why));
  for (const auto& [number, waits] : std::exchange(looks_, {})) waits.then({});
}

}  // namespace mcpbx::daemon::app
