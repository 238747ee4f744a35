// Helpers that the encoders of all APIs share: addresses, origin of messages, caching of fragments, words for files.
#pragma once
#include "providers/wire/codec.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::wire {

/// Appends `path` to the path of `base`, with one slash between them. Keeps the query of `base` (Azure's api-version).
std::string join_url(std::string_view base, std::string_view path);

/// Returns the host of an address, without its port.
std::string_view host_of(std::string_view url);

/// Returns true if `m` is an assistant message of this API, address and model, so that `m.raw` goes back as it is.
/// Returns false if a call in it has a name that APIs refuse.
bool is_own(const message& m, std::string_view api, const wire_options& options);

/// Look-up of the provider's ids for the calls of the last turn, for APIs that may send calls without an id.
class id_lookup {
 public:
  /// Sets the last assistant message, which must outlive this object. `own`: it goes back in its raw form.
  void turn(const message& m, bool own) {
    turn_ = &m;
    own_ = own;
  }
  /// Returns true if the last turn goes back in its raw form.
  bool own() const { return own_; }
  /// Returns the provider's id of a call; "" if it gave none, or if the turn was made by another provider.
  std::string_view sent_id(std::string_view call_id) const;

 private:
  const message* turn_ = nullptr;
  bool own_ = false;
};

/// Returns the fragment of `m` under `key`, calling `make()` at the first time. An absent fragment is not cached.
template <class Value, class Make>
json::raw_json encoded_once(const Value& m, std::string_view key, Make&& make) {
  auto fragment = m.remembered(key);
  if (!fragment.empty()) return fragment;
  fragment = make();
  if (!fragment.empty()) m.remember(key, fragment);
  return fragment;
}

/// Appends `note` to `text` as a paragraph of its own.
std::string with_note(std::string text, std::string_view note);

/// Returns the settings of the request, completed by those of the configuration, without any that the model does not
/// accept.
call_settings settings_of(const model_request& request, const wire_options& options);

/// Returns true if the model has to call a tool.
bool must_call(const model_request& request);
/// Returns request.note, with a sentence that demands a call if one is required. For APIs without a member for that.
std::string note_with_choice(const model_request& request);

/// Returns true for texts of blanks only, those of Unicode included, which Anthropic's Messages API refuses.
bool is_blank_text(std::string_view text);
/// Replaces the content of an empty user message, for APIs that refuse one. Leaving the message out would join the
/// answers around it, or leave no question.
inline constexpr std::string_view nothing_said = "[empty message]";

/// Returns true if `m` has an image or a file.
bool has_media(const message& m);

/// Returns the text of an assistant message, followed by its refusals.
std::string said_text(const message& m);

/// Returns the words for a file that an API cannot carry: `[file notes.odt, 12 bytes: left out]`.
std::string left_out(const file_block& file);
/// Returns the same for an image of a type that the API does not accept.
std::string left_out(const image_block& image);
/// Returns a file as text for an API without a place for its kind: a line with its name and its content if the type is
/// a text in UTF-8, else left_out().
std::string file_words(const file_block& file);

/// Returns the first `most` texts, for an API that refuses more.
std::span<const std::string> first_of(const std::vector<std::string>& texts, std::size_t most);

/// Returns `data:MIME;base64,…` with the registered name of the type.
std::string data_url(std::string_view mime, std::string_view base64);

}  // namespace mcpbx::providers::wire
