// Makes messages of the body of an HTTP answer: one JSON text, or a stream of events. No I/O.
#pragma once
#include "mcp/client/connect/remote/event_reader.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/rpc/message_sink.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::mcp::remote {

class answer_reader final : private event_sink, private rpc::message_sink {
 public:
  enum class form : std::uint8_t { none, json, events };
  /// `sink` gets the messages and must outlive the reader; it must not feed the reader from inside.
  answer_reader(rpc::line_framer::options framing, rpc::message_sink& sink) : framer_(framing), sink_(sink) {}

  /// Begins a body. After a dropped stream of events the last id is kept.
  void begin(form f);
  form present() const noexcept { return form_; }
  void feed(std::string_view bytes);
  /// Ends a JSON body.
  void finish();
  const event_reader& events() const noexcept { return events_; }
  /// Returns the number of messages and faults so far.
  std::uint64_t count() const noexcept { return count_; }
  /// Collects the data of an event of this name, at most 8 KiB; taken with take_wanted().
  void want(std::string_view event) { wanted_ = event; }
  /// Returns the data of the wanted event once it has ended, else "".
  std::string take_wanted();

 private:
  void on_event_data(std::string_view piece) override;
  void on_event_end(std::string_view name) override;
  void on_message(rpc::message&& m) override;
  void on_fault(rpc::message_fault f) override;

  rpc::line_framer framer_;
  rpc::message_sink& sink_;
  event_reader events_;
  form form_ = form::none;
  bool skip_ = false;  // the line that ends now is no message of ours
  std::uint64_t count_ = 0;
  std::string wanted_, data_, found_;
};

}  // namespace mcpbx::mcp::remote
