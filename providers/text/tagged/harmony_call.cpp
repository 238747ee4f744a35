// Reads Harmony's calls. The object ends where its brackets do, because a string in it may name the tokens of the form.
#include "providers/text/tagged/harmony_call.hpp"

#include "providers/text/marks/text_scan.hpp"

namespace mcpbx::providers::text::tagged {

harmony_call::harmony_call(const marks::offered_tools* tools, const marks::harmony_header& header)
    : tools_(tools), name_(marks::harmony_tool(header.recipient, *tools)) {
  has_tokens_ = header.complete;
  if (name_.empty()) broken_ = "it has no name";
  if (header.doubtful) broken_ = "it is addressed to two tools";
}

harmony_call::outcome harmony_call::advance(std::string_view in, bool last) {
  if (part_ == part::first) {
    begin_ = at_ = marks::skip_blanks(in, at_);
    if (at_ == in.size()) return outcome::more;
    part_ = in[at_] == '{' ? part::json : part::words;
  }
  if (part_ == part::json) {
    at_ += brackets_.feed(in.substr(at_));
    return brackets_.closed() ? outcome::complete : outcome::more;
  }
  for (;; ++at_) {
    at_ = std::min(in.find('<', at_), in.size());
    if (at_ == in.size()) return outcome::more;
    const auto ends = marks::begins_any(in.substr(at_), marks::harmony_ends);
    if (ends == marks::match::yes) return outcome::complete;
    if (ends == marks::match::maybe && !last) return outcome::more;
  }
}

tool_call_block harmony_call::call(std::string_view in) const {
  const auto written = trimmed(in.substr(begin_, at_ - begin_));
  const bool readable = part_ == part::json || written.empty() || written.starts_with(marks::fence_mark);
  tool_call_block made;
  if (broken_ != nullptr || !readable) {
    made = marks::unreadable_call(written, broken_ != nullptr ? broken_ : "its arguments are no JSON object");
    made.name = name_.empty() ? made.name : name_;
    return made;
  }
  made.name = name_;
  marks::set_arguments(made, tools_->find(name_), written);
  return made;
}

}  // namespace mcpbx::providers::text::tagged
