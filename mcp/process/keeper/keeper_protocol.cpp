// Encodes and decodes the frames of the keeper's protocol, field by field.
#include "mcp/process/keeper/keeper_protocol.hpp"

#include <cstring>
#include <utility>
#include <vector>

namespace mcpbx::mcp::keepers::keeper_protocol {
namespace {

enum class kind : std::uint8_t { spawn = 1, send_signal, spawned, spawn_failed, exited };

class writer {
 public:
  explicit writer(kind k) : out_(sizeof(std::uint32_t), '\0') { put(k); }
  template <class T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
  }
  void put_list(const std::vector<std::string>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const auto& text : list) put_text(text);
  }
  std::string frame() && {
    const auto size = static_cast<std::uint32_t>(out_.size() - sizeof(std::uint32_t));
    std::memcpy(out_.data(), &size, sizeof size);
    return std::move(out_);
  }

 private:
  std::string out_;
};

class reader {
 public:
  explicit reader(std::string_view in) : in_(in) {}
  template <class T>
  T get() {
    T value{};
    if (in_.size() < sizeof value) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, in_.data(), sizeof value);
    in_.remove_prefix(sizeof value);
    return value;
  }
  bool get_bool() { return get<std::uint8_t>() != 0; }
  std::string get_text() {
    const auto size = get<std::uint32_t>();
    if (!ok_ || in_.size() < size) {
      ok_ = false;
      return {};
    }
    std::string text(in_.substr(0, size));
    in_.remove_prefix(size);
    return text;
  }
  std::vector<std::string> get_list() {
    std::vector<std::string> list;
    for (auto n = get<std::uint32_t>(); ok_ && n > 0; --n) list.push_back(get_text());
    return list;
  }
  /// Returns true if every field was there and no byte is left.
  bool complete() const { return ok_ && in_.empty(); }

 private:
  std::string_view in_;
  bool ok_ = true;
};

template <class... T>
struct overloaded : T... {
  using T::operator()...;
};

template <class Message, class Value>
std::optional<Message> checked(const reader& in, Value value) {
  if (!in.complete()) return std::nullopt;
  return Message(std::move(value));
}

}  // namespace

std::string encode(const request& r) {
  return std::visit(overloaded{[](const spawn& s) {
                                 writer w(kind::spawn);
                                 w.put(s.server);
                                 w.put_text(s.spec.name);
                                 w.put_list(s.spec.argv);
                                 w.put_list(s.spec.environment);
                                 w.put_text(s.spec.directory);
                                 w.put(static_cast<std::uint8_t>(s.spec.keep_orphans));
                                 return std::move(w).frame();
                               },
                               [](const send_signal& s) {
                                 writer w(kind::send_signal);
                                 w.put(s.server);
                                 w.put(static_cast<std::int32_t>(s.number));
                                 return std::move(w).frame();
                               }},
                    r);
}

std::string encode(const notice& n) {
  return std::visit(overloaded{[](const spawned& s) {
                                 writer w(kind::spawned);
                                 w.put(s.server);
                                 w.put(static_cast<std::int32_t>(s.pid));
                                 return std::move(w).frame();
                               },
                               [](const spawn_failed& s) {
                                 writer w(kind::spawn_failed);
                                 w.put(s.server);
                                 w.put(static_cast<std::uint8_t>(s.why.code));
                                 w.put_text(s.why.message);
                                 return std::move(w).frame();
                               },
                               [](const exited& e) {
                                 writer w(kind::exited);
                                 w.put(e.server);
                                 w.put(static_cast<std::uint8_t>(e.how.signalled));
                                 w.put(static_cast<std::int32_t>(e.how.value));
                                 return std::move(w).frame();
                               }},
                    n);
}

std::optional<request> decode_request(std::string_view payload) {
  reader in(payload);
  switch (in.get<kind>()) {
    case kind::spawn: {
      spawn s;
      s.server = in.get<server_number>();
      s.spec.name = in.get_text();
      s.spec.argv = in.get_list();
      s.spec.environment = in.get_list();
      s.spec.directory = in.get_text();
      s.spec.keep_orphans = in.get_bool();
      return checked<request>(in, std::move(s));
    }
    case kind::send_signal: {
      send_signal s;
      s.server = in.get<server_number>();
      s.number = in.get<std::int32_t>();
      return checked<request>(in, s);
    }
    default:
      return std::nullopt;
  }
}

std::optional<notice> decode_notice(std::string_view payload) {
  reader in(payload);
  switch (in.get<kind>()) {
    case kind::spawned: {
      spawned s;
      s.server = in.get<server_number>();
      s.pid = in.get<std::int32_t>();
      return checked<notice>(in, s);
    }
    case kind::spawn_failed: {
      spawn_failed s;
      s.server = in.get<server_number>();
      s.why.code = static_cast<errc>(in.get<std::uint8_t>());
      s.why.message = in.get_text();
      return checked<notice>(in, std::move(s));
    }
    case kind::exited: {
      exited e;
      e.server = in.get<server_number>();
      e.how.signalled = in.get_bool();
      e.how.value = in.get<std::int32_t>();
      return checked<notice>(in, e);
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string_view> frame_reader::next() {
  // The payload returned last had to stay valid until now.
  buffer_.erase(0, std::exchange(taken_, 0));
  std::uint32_t size = 0;
  if (broken_ || buffer_.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, buffer_.data(), sizeof size);
  if (size > max_frame_bytes) {
    broken_ = true;
    return std::nullopt;
  }
  if (buffer_.size() < sizeof size + size) return std::nullopt;
  taken_ = sizeof size + size;
  return std::string_view(buffer_).substr(sizeof size, size);
}

}  // namespace mcpbx::mcp::keepers::keeper_protocol
