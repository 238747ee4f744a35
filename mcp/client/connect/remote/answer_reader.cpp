// Turns line breaks between the tokens of a JSON text into blanks, because the framer cuts at them.
#include "mcp/client/connect/remote/answer_reader.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::remote {
namespace {

constexpr std::size_t longest_wanted = 8192;

}  // namespace

void answer_reader::begin(form f) {
  if (f == form::events) {
    // Half an event of a dropped stream comes again as a whole.
    skip_ = true;
    framer_.feed("\n", *this);
    skip_ = false;
    data_.clear();
    events_.restart();
  }
  form_ = f;
}

void answer_reader::feed(std::string_view bytes) {
  if (form_ == form::events) return events_.feed(bytes, *this);
  if (form_ != form::json) return;
  if (!bytes.contains('\n') && !bytes.contains('\r')) return framer_.feed(bytes, *this);
  std::string line(bytes);
  std::ranges::replace(line, '\n', ' ');
  std::ranges::replace(line, '\r', ' ');
  framer_.feed(line, *this);
}

void answer_reader::finish() {
  if (form_ == form::json) framer_.feed("\n", *this);
}

std::string answer_reader::take_wanted() {
  return std::exchange(found_, {});
}

void answer_reader::on_event_data(std::string_view piece) {
  if (!wanted_.empty() && data_.size() + piece.size() <= longest_wanted) data_ += piece;
  framer_.feed(piece == "\n" ? std::string_view(" ") : piece, *this);
}

void answer_reader::on_event_end(std::string_view name) {
  // Events of other names are for other readers ("endpoint", "ping"); messages have this name or none.
  skip_ = !name.empty() && name != "message";
  framer_.feed("\n", *this);
  skip_ = false;
  if (!wanted_.empty() && name == wanted_) {
    found_ = std::exchange(data_, {});
    wanted_.clear();
  }
  data_.clear();
}

void answer_reader::on_message(rpc::message&& m) {
  if (skip_) return;
  ++count_;
  sink_.on_message(std::move(m));
}

void answer_reader::on_fault(rpc::message_fault f) {
  if (skip_) return;
  ++count_;
  sink_.on_fault(std::move(f));
}

}  // namespace mcpbx::mcp::remote
