// Parts that readers of messages share, whatever their dialect: the messages so far, the calls that wait for their
// results, and the first fault with its place. Pure.
#pragma once
#include "daemon/front/chat/request_bounds.hpp"
#include "daemon/front/dialects/dialect_request.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "providers/model/message.hpp"

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::dialects {

/// Returns a fault "expected …, got …" about a member.
request_fault wrong_member(std::string param, std::string_view expected, const json::raw_json& got);
/// Returns a name or id from a request for a sentence: quoted, and cut.
std::string shown_name(std::string_view name);
/// Returns the last member of this name, or an absent value if it is null.
json::raw_json given_member(const json::raw_json& object, std::string_view key);
/// Returns the place of a member, `place.key`, or of an element, `place[index]`.
std::string place_at(std::string place, std::string_view key);
std::string place_at(std::string place, std::size_t index);
/// Returns true if the text begins as an address on the web does.
bool is_web_address(std::string_view text);
/// Splits "data:MIME;base64,DATA" into MIME and DATA.
std::optional<std::pair<std::string, std::string>> data_url(std::string_view url);

/// Returns the blocks of a message (text, images, files) as the result of a tool call in the form of MCP.
json::raw_json tool_result_of(const providers::message& said, bool is_error);

/// Collects messages. Reading stops at the first fault: later ones are ignored.
class message_builder {
 public:
  using message = std::shared_ptr<providers::message>;

  void wrong(std::string place, std::string_view form, const json::raw_json& got) {
    if (!fault_) fault_ = wrong_member(std::move(place), form, got);
  }
  void fault(const std::string& place, const std::string& what) {
    if (!fault_) fault_ = request_fault{400, place + ": " + what, place, ""};
  }
  bool failed() const noexcept { return fault_.has_value(); }

  message add(providers::role r);
  /// Returns the last message if it has this role and nothing else was added since, else a new one.
  message last_or_new(providers::role r);

  /// Adds a call. `arguments` is JSON text, which may be faulty; `place` is that of the call, `id_key` the member with
  /// its id.
  void add_call(providers::message& into, std::string id, std::string name, std::string arguments,
                const std::string& place, std::string_view id_key);
  /// Adds the result of an open call (as in MCP: content, isError) to the message of results at the end. `got` is the
  /// id as it was sent.
  void add_result(const std::string& id, json::raw_json result, bool is_error, const std::string& place,
                  const json::raw_json& got);
  /// Takes results without a call before them: a run that the request names has made the calls.
  void expect_no_calls() noexcept { without_calls_ = true; }
  /// Checks that every call has its result before the message at `place`. `form` names the form of a result.
  void close_calls(const std::string& place, std::string_view form);
  bool has_open_calls() const noexcept { return !open_.empty(); }

  void add_text(providers::message& into, std::string text) {
    into.blocks.emplace_back(providers::text_block{std::move(text)});
  }
  /// Reads the value at `place`: a string is one text, and `read(element, place)` is called for each element of an
  /// array, until a fault. `form` names both forms.
  template <class Read>
  void read_content(const json::raw_json& content, const std::string& place, std::string_view form,
                    providers::message& into, Read&& read) {
    if (auto text = content.as_string()) return add_text(into, std::move(*text));
    if (!content.is_array()) return wrong(place, form, content);
    read_each(content, place, std::forward<Read>(read));
  }
  /// Calls `read(element, place)` for each element of an array, until a fault.
  template <class Read>
  void read_each(const json::raw_json& list, const std::string& place, Read&& read) {
    std::size_t index = 0;
    json::for_each_element(list, [&](const json::raw_json& element) {
      read(element, place_at(place, index++));
      return !failed();
    });
  }
  /// As read_each(), for the messages of a request, which are bounded (most_messages). `things` names them.
  template <class Read>
  void read_messages(const json::raw_json& list, const std::string& place, std::string_view things, Read&& read) {
    std::size_t count = 0;
    read_each(list, place, [&](const json::raw_json& element, const std::string& where) {
      if (count++ == chat::most_messages)
        wrong(place, "an array of at most " + std::to_string(chat::most_messages) + " " + std::string(things), list);
      else
        read(element, where);
    });
  }

  /// Adds an image from an https:// address or a data: URL.
  void add_image_url(providers::message& into, const json::raw_json& url, std::string detail, const std::string& place);
  /// Adds a file of base64 `data` (or a data: URL, whose MIME type then counts).
  void add_file(providers::message& into, std::string mime, std::string name, std::string data,
                const std::string& place);
  /// Reports data at `place` that is no base64. Returns false then.
  bool check_base64(const std::string& data, const std::string& place);

  std::expected<std::vector<providers::message_ptr>, request_fault> finish();

 private:
  std::vector<providers::message_ptr> messages_;
  message last_;     // the last of them, which may still grow
  message results_;  // message of results that is being filled
  // Names of the latest calls that have no result yet, by id.
  text_map<std::string> open_;
  std::optional<request_fault> fault_;
  bool without_calls_ = false;
};

}  // namespace mcpbx::daemon::dialects
