// The table of methods and their handlers. Handlers are bound once and typed: params are decoded, and every error is
// answered with its path, before the handler sees them.
#pragma once
#include "mcp/server/base/param_reader.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/server/base/rpc_errors.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::mcp::server {

/// A table for handlers that work on a `Caller`: the session or the connection that the request came through.
template <class Caller>
class method_table {
 public:
  using handler = std::function<void(Caller&, const json::raw_json& params, reply_once reply)>;

  /// Adds a handler that takes its params as they are. `name` must live for ever.
  void add(std::string_view name, handler h) { handlers_.insert_or_assign(name, std::move(h)); }

  /// Binds a handler of decoded params: `decode(param_reader&)` or `decode(param_reader&, const Caller&)` returns
  /// Params for `handle(Caller&, Params, reply_once)`. Errors and unread members are answered with -32602.
  template <class Decode, class Handle>
  void bind(std::string_view name, Decode decode, Handle handle) {
    add(name, [decode, handle](Caller& caller, const json::raw_json& params, reply_once reply) {
      param_reader in(params);
      auto decoded = [&] {
        if constexpr (std::is_invocable_v<Decode, param_reader&, const Caller&>)
          return decode(in, std::as_const(caller));
        else
          return decode(in);
      }();
      if (auto ok = in.finish(); !ok) return reply.error(to_rpc_error(ok.error()));
      handle(caller, std::move(decoded), std::move(reply));
    });
  }
  /// Binds a method without params.
  template <class Handle>
  void bind(std::string_view name, Handle handle) {
    bind(
        name, [](param_reader&) { return nothing{}; },
        [handle](Caller& caller, nothing, reply_once reply) { handle(caller, std::move(reply)); });
  }

  const handler* find(std::string_view name) const {
    auto found = handlers_.find(name);
    return found == handlers_.end() ? nullptr : &found->second;
  }
  bool empty() const noexcept { return handlers_.empty(); }
  /// Returns all names, for suggestions.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> out;
    for (const auto& [name, h] : handlers_) out.push_back(name);
    return out;
  }

 private:
  struct nothing {};
  std::unordered_map<std::string_view, handler> handlers_;
};

}  // namespace mcpbx::mcp::server
