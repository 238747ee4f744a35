// One HTTP exchange that fetches a list of models, and the reading of its answer.
#include "providers/call/model_listing.hpp"

#include "mcp/http/url.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/registry/registry.hpp"

#include <optional>
#include <string>
#include <utility>

namespace mcpbx::providers::call {
namespace {

constexpr std::size_t max_body = 8u << 20;

class listing_run final : public http::clients::response_events, public std::enable_shared_from_this<listing_run> {
 public:
  listing_run(chat_model_options o, http::clients::client& client, time_source& time,
              std::function<void(result<wire::model_list>)> done)
      : options_(std::move(o)),
        api_(registry::find_api(options_.api)),
        client_(client),
        timer_(time.make_timer()),
        now_(time.now()),
        done_(std::move(done)) {}

  void start() {
    options_.wire.name = options_.name;
    options_.wire.base_url = http::appendable(options_.wire.base_url);
    if (api_ == nullptr)
      return end_later(
          fail(errc::invalid_argument, "The API " + options_.api + " has no endpoint that could be asked."));
    auto encoded = api_->encode_model_list(options_.wire);
    if (!encoded) return end_later(std::unexpected(encoded.error()));
    request_.method = "GET";
    request_.url = std::move(encoded->url);
    for (auto& [name, value] : encoded->headers) put_header(request_.headers, {std::move(name), std::move(value)});
    for (const auto& h : options_.headers) put_header(request_.headers, h);
    request_.limits = options_.limits;
    request_.limits.max_body = max_body;
    request_.trust = options_.trust;
    request_.accept_gzip = true;
    if (!options_.credentials) return send({});
    options_.credentials([weak = weak_from_this()](result<std::vector<http::header>> got) {
      const auto self = weak.lock();
      if (!self || !self->done_) return;
      if (got) return self->send(*std::move(got));
      self->end_later(fail(errc::config, "The key of " + wire::named(self->options_.wire) +
                                             " is not available: " + got.error().message));
    });
  }

  void leave() {
    done_ = {};
    exchange_.reset();
    timer_->cancel();
  }

  void on_head(int status, const std::vector<http::header>&) override { status_ = status; }
  void on_body(std::string_view bytes) override { body_ += bytes; }
  void on_end() override {
    if (status_ / 100 != 2) return end(refusal());
    auto list = api_->decode_model_list(body_);
    if (!list)
      return end(fail(errc::peer, "The " + endpoint() + " cannot be asked for its models: " + list.error().message +
                                      ". Check baseUrl."));
    end(std::move(list));
  }
  void on_failure(http::clients::failure f) override {
    end(fail(errc::unavailable, "The endpoint of " + wire::named(options_.wire) + ": " + f.why.message));
  }

 private:
  std::string endpoint() const {
    const auto url = http::parse_url(request_.url);
    return "endpoint " + (url ? url->label : std::string());
  }

  result<wire::model_list> refusal() const {
    if (status_ == 404 || status_ == 405 || status_ == 501)
      return fail(errc::peer, "The " + endpoint() + " offers no list of models (status " + std::to_string(status_) +
                                  "). Look for its models in its documentation, or check baseUrl.");
    return fail(errc::peer, wire::status_error(status_, body_, options_.wire).message);
  }

  void send(std::vector<http::header> credentials) {
    register_credentials(credentials);
    for (auto& h : credentials) put_header(request_.headers, std::move(h));
    exchange_ = client_.start(request_, *this);
  }

  void end(result<wire::model_list> r) {
    const auto self = shared_from_this();
    exchange_.reset();
    if (const auto done = std::exchange(done_, {})) done(std::move(r));
  }

  // Calls end() in a later turn, because `done` must not be called from inside start().
  void end_later(result<wire::model_list> r) {
    timer_->arm(now_, [weak = weak_from_this(), r = std::move(r)] {
      if (const auto self = weak.lock()) self->end(r);
    });
  }

  chat_model_options options_;
  const wire::api_description* api_;  // null: unknown
  http::clients::client& client_;
  std::unique_ptr<timer> timer_;
  time_point now_;
  std::function<void(result<wire::model_list>)> done_;
  http::clients::request request_;
  std::unique_ptr<http::clients::exchange> exchange_;
  int status_ = 0;
  std::string body_;
};

class listing_handle final : public model_listing {
 public:
  explicit listing_handle(std::shared_ptr<listing_run> run) : run_(std::move(run)) {}
  ~listing_handle() override { run_->leave(); }
  listing_handle(const listing_handle&) = delete;
  listing_handle& operator=(const listing_handle&) = delete;

 private:
  std::shared_ptr<listing_run> run_;
};

}  // namespace

std::unique_ptr<model_listing> list_models(chat_model_options o, http::clients::client& client, time_source& time,
                                           std::function<void(result<wire::model_list>)> done) {
  auto run = std::make_shared<listing_run>(std::move(o), client, time, std::move(done));
  run->start();
  return std::make_unique<listing_handle>(std::move(run));
}

}  // namespace mcpbx::providers::call
