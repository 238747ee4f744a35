// What the encoders of all APIs share: addresses, whose message is sent back as it came, what is encoded once.
#pragma once
#include "providers/wire/codec.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers {

/// `base` with `path` appended to its path: one slash between them, the base's query kept (Azure's api-version).
std::string join_url(std::string_view base, std::string_view path);

/// `path` with every byte that a path may not hold as %XX; slashes part segments and stay.
std::string encoded_path(std::string_view path);

/// Whether `m` is an assistant message that this API, address and model made, so that `m.raw` goes back as it is. Not
/// where a call in it has a name that APIs refuse.
bool is_own(const message& m, std::string_view api, const wire_options& options);

/// The ids by which results answer the calls of the turn before them, for APIs that may send calls without one.
class id_lookup {
 public:
  /// An assistant message was passed; `own`: its raw form is what goes back. It must outlive this object.
  void turn(const message& m, bool own) {
    turn_ = &m;
    own_ = own;
  }
  /// Whether the last turn goes back in its raw form.
  bool own() const { return own_; }
  /// What the provider called this call of ours; "" when it gave no id, or the turn was another's.
  std::string_view sent_id(std::string_view call_id) const;

 private:
  const message* turn_ = nullptr;
  bool own_ = false;
};

/// What `make()` encodes `m` to, kept with it under `key` and made only once. Nothing is kept of an absent fragment.
template <class Value, class Make>
raw_json encoded_once(const Value& m, std::string_view key, Make&& make) {
  auto fragment = m.remembered(key);
  if (!fragment.empty()) return fragment;
  fragment = make();
  if (!fragment.empty()) m.remember(key, fragment);
  return fragment;
}

/// `text` and, in a paragraph of its own, `note`.
std::string with_note(std::string text, std::string_view note);

/// What a call asks for: the request's settings, and the configuration's where it has none. Nothing of what the model
/// does not take.
call_settings settings_of(const model_request& request, const wire_options& options);

/// Whether the model has to call a tool.
bool must_call(const model_request& request);
/// request.note and, where the model has to call a tool, a sentence that says so: for APIs that cannot be told.
std::string note_with_choice(const model_request& request);

/// Whether there is nothing but blanks, those of Unicode included: the text that Messages refuses.
bool is_blank_text(std::string_view text);
/// Stands where a user's message would be left with nothing, for APIs that refuse such a one: without it the answers
/// before and behind it would meet, or nothing be asked.
inline constexpr std::string_view nothing_said = "[empty message]";

/// What an assistant said: its text and, behind it, its refusals.
std::string said_text(const message& m);

/// The words for a caller's file that an API cannot carry: `[file notes.odt, 12 bytes: left out]`.
std::string left_out(const file_block& file);
/// The same for an image whose type it does not take.
std::string left_out(const image_block& image);
/// A caller's file where an API has no place for its kind: its text, if it is a text (by its type, in UTF-8), below a
/// line with its name, else left_out().
std::string file_words(const file_block& file);

/// A JSON list of strings.
std::string string_list(std::span<const std::string> texts);
/// The first `most` of them, for an API that refuses more.
std::span<const std::string> first_of(const std::vector<std::string>& texts, std::size_t most);

/// `data:MIME;base64,…`, by the registered name of the type.
std::string data_url(std::string_view mime, std::string_view base64);

}  // namespace mcpbx::providers
