// Opens remote connections: resolves the entry, then hands the session a transport. The network is asked with the first
// message.
#include "mcp/client/connect/remote/remote_connector.hpp"

#include "mcp/client/connect/remote/remote_core.hpp"

#include <array>
#include <utility>

namespace mcpbx::mcp::remote {
namespace {

/// The transport that a session holds. Destroying it closes the exchanges.
class remote_handle final : public transports::transport {
 public:
  explicit remote_handle(std::shared_ptr<remote_core> core) : core_(std::move(core)) {}
  ~remote_handle() override { core_->close_transport(); }
  remote_handle(const remote_handle&) = delete;
  remote_handle& operator=(const remote_handle&) = delete;

  bool mirrors() const noexcept override { return true; }
  std::optional<bool> legacy_known() const noexcept override { return core_->legacy_known(); }
  void start(transports::transport_events& events) override { core_->start(events); }
  void send(const json::segments& text, rpc::outgoing what) override { core_->send(text, what); }
  // Each message has a connection of its own, whose buffers nothing else waits for.
  std::size_t unsent() const noexcept override { return 0; }
  void pause_reading(bool) override {}
  void finish_sending() override {}
  void close() override { core_->close_transport(); }

 private:
  std::shared_ptr<remote_core> core_;
};

// Headers of an entry that MCP or HTTP itself sets would contradict those of the message.
void drop_own_headers(std::vector<http::header>& headers) {
  static constexpr std::array<std::string_view, 7> own{
      "accept", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"};
  std::erase_if(headers, [](const http::header& h) {
    return std::ranges::any_of(own, [&](std::string_view name) { return http::is_word(h.name, name); });
  });
}

class remote_link final : public connect::server_link {
 public:
  remote_link(std::shared_ptr<remote_record> record, connect::link_events& events)
      : record_(std::move(record)), events_(events), soon_(record_->with.time.make_timer()) {
    record_->present = this;
  }
  ~remote_link() override {
    if (record_->present == this) record_->present = nullptr;
    if (core_) core_->drop();
  }
  remote_link(const remote_link&) = delete;
  remote_link& operator=(const remote_link&) = delete;

  void begin(const remote_source& source) {
    source([this, alive = std::weak_ptr(alive_)](result<remote_spec> spec) {
      if (alive.expired() || std::exchange(prepared_, true)) return;
      // `source` may have answered inside open(), where no event may come.
      soon_->arm_next([this, spec = std::move(spec)] mutable { opened(std::move(spec)); });
    });
  }

  bool end(connect::ending step) override {
    prepared_ = true;
    soon_->cancel();
    return core_ && core_->end(step);
  }

 private:
  void opened(result<remote_spec> spec) {
    if (!spec) {
      record_->problem = "refused";
      return events_.on_not_opened({"cannot be asked: " + spec.error().message});
    }
    drop_own_headers(spec->headers);
    core_ = std::make_shared<remote_core>(record_, std::move(*spec), events_);
    events_.on_open(std::make_unique<remote_handle>(core_));
  }

  std::shared_ptr<remote_record> record_;
  connect::link_events& events_;
  std::unique_ptr<timer> soon_;
  std::shared_ptr<remote_core> core_;
  bool prepared_ = false;  // ignores further answers of the source
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class remote_connector final : public connect::connector {
 public:
  remote_connector(std::string server, std::string address, remote_means with, remote_source source)
      : record_(std::make_shared<remote_record>(
            remote_record{std::move(server), std::move(address), std::move(with), {}, {}, nullptr})),
        source_(std::move(source)) {}

  std::unique_ptr<connect::server_link> open(connect::link_events& events) override {
    auto link = std::make_unique<remote_link>(record_, events);
    link->begin(source_);
    return link;
  }
  std::string label() const override { return record_->address; }
  std::string_view force_name() const override { return "the end of its connections"; }
  std::optional<clients::remote_status> remote() const override {
    return clients::remote_status{record_->address, record_->transport, record_->problem};
  }

 private:
  std::shared_ptr<remote_record> record_;
  remote_source source_;
};

}  // namespace

std::unique_ptr<connect::connector> make_remote_connector(std::string server, std::string address, remote_means with,
                                                          remote_source source) {
  return std::make_unique<remote_connector>(std::move(server), std::move(address), std::move(with), std::move(source));
}

}  // namespace mcpbx::mcp::remote
