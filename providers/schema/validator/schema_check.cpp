// Checks of values, rule by rule. Each function returns true if the value fits. After a bound was hit the results mean
// nothing, and run() sees exhausted_.
#include "providers/schema/validator/schema_evaluator.hpp"
#include "providers/schema/validator/schema_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <utility>

namespace mcpbx::providers::schema {
namespace {

// Steps for a text that is compared or looked up: it may be long.
std::size_t cost_of(std::string_view text) {
  return 1 + text.size() / 64;
}

constexpr int max_levels = 3 * json_schema::max_depth;  // of nodes in nodes: a value's level may take several

}  // namespace

void seen::join(const seen& other) {
  all_members |= other.all_members;
  all_elements |= other.all_elements;
  for (std::size_t i = 0; i < other.members.size(); ++i)
    if (other.members[i]) member(i);
  for (std::size_t i = 0; i < other.elements.size(); ++i)
    if (other.elements[i]) element(i);
}

json_schema::verdict evaluator::run(const value& v) {
  json_schema::verdict out;
  const bool fits = node_fits(0, v, nullptr);
  if (exhausted_ || steps_ == 0) return {{}, false};
  if (fits) return out;
  steps_ = json_schema::max_steps;
  told_ = &out.violations;
  node_fits(0, v, nullptr);
  exhausted_ = false;
  if (out.violations.empty()) tell("a value that fits the schema", in_words(v));
  return out;
}

bool evaluator::spend(std::size_t n) {
  if (steps_ < n) exhausted_ = true;
  steps_ -= exhausted_ ? steps_ : n;
  return !exhausted_;
}

bool evaluator::node_fits(node_id id, const value& v, seen* s) {
  if (!spend()) return true;
  const auto& n = p_.nodes[id];
  if (n.never) {
    if (telling()) tell("nothing here", in_words(v));
    return false;
  }
  if (depth_ >= max_levels) exhausted_ = true;
  if (exhausted_ || (telling() && enough())) return true;
  ++depth_;
  const bool enters = scope_.empty() || scope_.back() != n.resource;
  if (enters) scope_.push_back(n.resource);
  bool fits = false;
  if (n.unevaluated) {
    seen own;  // without the members that sibling schemas have evaluated
    fits = rules_fit(n, v, &own);
    if (fits && s) s->join(own);
  } else {
    fits = rules_fit(n, v, s);
  }
  if (enters) scope_.pop_back();
  --depth_;
  return fits;
}

bool evaluator::rules_fit(const node& n, const value& v, seen* s) {
  bool fits = true;
  for (auto i = n.first; i < n.first + n.count; ++i) {
    if (!spend()) return fits;
    const auto& r = p_.rules[i];
    if (rule_fits(r, v, s)) continue;
    fits = false;
    // A value of the wrong type violates the other rules too; report the type only.
    if (!telling() || r.what == op::types) return false;
  }
  return fits;
}

bool evaluator::silently(node_id id, const value& v, seen* s) {
  auto* const kept = told_;
  told_ = nullptr;
  const bool fits = node_fits(id, v, s);
  told_ = kept;
  return fits;
}

bool evaluator::at(step where, node_id id, const value& v) {
  if (!telling()) return node_fits(id, v, nullptr);
  path_.push_back(where);
  const bool fits = node_fits(id, v, nullptr);
  path_.pop_back();
  return fits;
}

bool evaluator::rule_fits(const rule& r, const value& v, seen* s) {
  const auto* o = v.if_object();
  const auto* a = v.if_array();
  switch (r.what) {
    case op::required:
      return !o || required_fits(*r.value, *o, {});
    case op::members:
      return !o || members_fit(p_.members[r.at], *o, s);
    case op::property_names:
      return !o || names_fit(r.at, *o);
    case op::dependent_required:
    case op::dependent_schemas:
      return !o || dependents_fit(r, v, s);
    case op::items:
      return !a || items_fit(p_.items[r.at], *a, s);
    case op::contains:
      return !a || contains_fits(p_.contains[r.at], *a, s);
    case op::all_of: {
      bool fits = true;
      for (const auto id : p_.lists[r.at])
        if (!node_fits(id, v, s)) {
          fits = false;
          if (!telling()) break;
        }
      return fits;
    }
    case op::any_of:
    case op::one_of:
      return any_fits(p_.lists[r.at], v, s, r.what == op::one_of);
    case op::negation:
      if (!silently(r.at, v, nullptr)) return true;
      if (telling()) {
        const auto form = brief(p_, r.at);
        tell(form.empty() ? "another value: the schema rules this one out" : "anything but " + form, in_words(v));
      }
      return false;
    case op::condition:
      return condition_fits(p_.conditions[r.at], v, s);
    case op::reference:
      return node_fits(r.at, v, s);
    case op::dynamic_reference:
      return dynamic_fits(p_.dynamics[r.at], v, s);
    case op::unevaluated_items:
    case op::unevaluated_properties:
      return unevaluated_fit(r, v, s);
    default:
      if (simple_fits(r, v)) return true;
      if (telling()) tell(expectation(p_, r, v), in_words(v));
      return false;
  }
}

bool evaluator::simple_fits(const rule& r, const value& v) {
  const auto compared = [&] { return compare_numbers(v, *r.value); };
  switch (r.what) {
    case op::types:
      return (types_of(v) & r.n) != 0;
    case op::constant:
      return equal(v, *r.value, steps_);
    case op::one_of_values:
      return std::ranges::any_of(r.value->get_array(), [&](const auto& e) { return equal(v, e, steps_); });
    case op::minimum:
      return !v.is_number() || compared() >= 0;
    case op::maximum:
      return !v.is_number() || compared() <= 0;
    case op::exclusive_minimum:
      return !v.is_number() || compared() > 0;
    case op::exclusive_maximum:
      return !v.is_number() || compared() < 0;
    case op::multiple_of:
      return !v.is_number() || is_multiple(v, *r.value);
    case op::min_length:
      return !v.is_string() || !spend(v.get_string().size() / 64) || length(v.get_string()) >= r.n;
    case op::max_length:
      return !v.is_string() || v.get_string().size() <= r.n || !spend(v.get_string().size() / 64) ||
             length(v.get_string()) <= r.n;
    case op::matches:
      return !v.is_string() || search(r.at, v.get_string()) != pattern::outcome::no_match;
    case op::min_items:
      return !v.is_array() || v.get_array().size() >= r.n;
    case op::max_items:
      return !v.is_array() || v.get_array().size() <= r.n;
    case op::unique_items:
      return !v.is_array() || unique(v.get_array());
    case op::min_properties:
      return !v.is_object() || v.get_object().size() >= r.n;
    case op::max_properties:
      return !v.is_object() || v.get_object().size() <= r.n;
    default:
      return true;
  }
}

pattern::outcome evaluator::search(std::uint32_t index, std::string_view text) {
  const auto& p = p_.patterns[index];
  if (!p) return pattern::outcome::unknown;
  const auto found = p->search(text, steps_);
  if (found == pattern::outcome::unknown) exhausted_ = true;
  return found;
}

bool evaluator::required_fits(const value& names, const tree::object& o, std::string_view because) {
  bool fits = true;
  for (const auto& name : names.get_array()) {
    if (!spend(cost_of(name.get_string()))) return true;
    if (o.contains(std::string_view(name.get_string()))) continue;
    fits = false;
    if (!telling()) break;
    std::string expected = "the member " + shown(name) + ", which is missing";
    if (!because.empty()) expected += " (it is required together with \"" + std::string(because) + "\")";
    tell(std::move(expected), {});
  }
  return fits;
}

bool evaluator::members_fit(const member_rules& m, const tree::object& o, seen* s) {
  bool fits = true;
  std::size_t index = 0;
  for (const auto& member : o) {
    const auto position = index++;
    const std::string_view name = member.key();
    if (!spend(cost_of(name) + m.patterns.size()) || (telling() && enough())) return fits;
    bool known = false;
    const auto look = [&](node_id id) {
      known = true;
      if (!at(name, id, member.value())) fits = false;
    };
    const auto found = std::ranges::lower_bound(m.properties, name, {}, &named_nodes::value_type::first);
    if (found != m.properties.end() && found->first == name) look(found->second);
    for (const auto& [pattern_index, id] : m.patterns) {
      if (!p_.patterns[pattern_index])
        known = true;  // it may be meant by the pattern that is not supported
      else if (search(pattern_index, name) == pattern::outcome::match)
        look(id);
    }
    if (!known && m.additional != no_node) {
      if (telling() && p_.nodes[m.additional].never) {
        fits = false;
        path_.emplace_back(name);
        tell_unknown_member(m, name);
        path_.pop_back();
      } else {
        look(m.additional);
      }
    }
    if (known && s) s->member(position);
    if (!fits && !telling()) return false;
  }
  return fits;
}

bool evaluator::names_fit(node_id id, const tree::object& o) {
  for (const auto& member : o) {
    if (!spend(cost_of(member.key()))) return true;
    const value name(member.key());
    if (silently(id, name, nullptr)) continue;
    if (!telling()) return false;
    std::vector<violation> why;
    auto* const kept = std::exchange(told_, &why);
    node_fits(id, name, nullptr);
    told_ = kept;
    tell("no member of this name: names must be " + (why.empty() ? "others" : why.front().expected),
         "the name " + shown(name));
    return false;
  }
  return true;
}

bool evaluator::dependents_fit(const rule& r, const value& v, seen* s) {
  const auto& o = v.get_object();
  bool fits = true;
  if (r.what == op::dependent_required) {
    for (const auto& m : r.value->get_object()) {
      if (!spend(cost_of(m.key()))) return true;
      if (o.contains(m.key()) && !required_fits(m.value(), o, m.key())) fits = false;
    }
  } else {
    for (const auto& [name, id] : p_.named[r.at]) {
      if (!spend(cost_of(name))) return true;
      if (o.contains(name) && !node_fits(id, v, s)) fits = false;
    }
  }
  return fits;
}

bool evaluator::items_fit(const item_rules& i, const tree::array& a, seen* s) {
  bool fits = true;
  const auto end = i.rest == no_node ? std::min(a.size(), i.prefix.size()) : a.size();
  for (std::size_t k = 0; k < end; ++k) {
    if (!spend() || (telling() && enough())) return fits;
    if (!at(k, k < i.prefix.size() ? i.prefix[k] : i.rest, a[k])) {
      fits = false;
      if (!telling()) return false;
    }
    if (s && i.rest == no_node) s->element(k);
  }
  if (s && i.rest != no_node) s->all_elements = true;
  return fits;
}

bool evaluator::contains_fits(const contains_rules& c, const tree::array& a, seen* s) {
  std::uint64_t hits = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!spend()) return true;
    if (!silently(c.what, a[k], nullptr)) continue;
    ++hits;
    if (s) s->element(k);
  }
  if (hits >= c.least && hits <= c.most) return true;
  if (telling()) {
    auto form = brief(p_, c.what);
    if (form.empty()) form = "what the schema asks for";
    const auto bound = hits < c.least ? "at least " + std::to_string(c.least) : "at most " + std::to_string(c.most);
    tell(bound + (bound.ends_with(" 1") ? " item that is " : " items that are ") + form, std::to_string(hits));
  }
  return false;
}

// Compares hashes first, so that a long array does not take quadratic time.
bool evaluator::unique(const tree::array& a) {
  if (a.size() < 2) return true;
  std::vector<std::pair<std::uint64_t, const value*>> all;
  all.reserve(a.size());
  for (const auto& e : a) all.emplace_back(hash(e, steps_), &e);
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (auto k = i + 1; k < all.size() && all[k].first == all[i].first; ++k) {
      if (equal(*all[i].second, *all[k].second, steps_)) return false;
      if (!spend()) return true;
    }
  return true;
}

bool evaluator::any_fits(const std::vector<node_id>& list, const value& v, seen* s, bool exactly_one) {
  std::size_t hits = 0;
  for (const auto id : list) {
    seen own;
    if (!silently(id, v, s ? &own : nullptr)) continue;
    ++hits;
    if (s) s->join(own);
    if (exactly_one ? hits > 1 && !telling() : !s) break;
  }
  if (exactly_one ? hits == 1 : hits > 0) return true;
  if (telling()) {
    if (hits > 1)
      tell("a value that fits exactly one of " + std::to_string(list.size()) + " forms",
           in_words(v) + ", which fits " + std::to_string(hits));
    else
      tell_alternatives(list, v);
  }
  return false;
}

bool evaluator::condition_fits(const condition_rules& c, const value& v, seen* s) {
  seen own;
  const bool holds = silently(c.when, v, s ? &own : nullptr);
  if (holds && s) s->join(own);
  const auto next = holds ? c.then : c.otherwise;
  return next == no_node || node_fits(next, v, s);
}

bool evaluator::dynamic_fits(const dynamic_rules& d, const value& v, seen* s) {
  if (!spend(scope_.size())) return true;
  auto target = d.target;
  if (!d.anchor.empty())
    for (const auto r : scope_) {
      const auto& anchors = p_.resources[r].dynamic_anchors;
      if (const auto found = anchors.find(d.anchor); found != anchors.end()) {
        target = found->second;
        break;
      }
    }
  return node_fits(target, v, s);
}

bool evaluator::unevaluated_fit(const rule& r, const value& v, seen* s) {
  bool fits = true;
  if (const auto* a = v.if_array(); a && r.what == op::unevaluated_items) {
    for (std::size_t k = 0; k < a->size(); ++k) {
      if (!spend()) return true;
      if (!s->has_element(k) && !at(k, r.at, (*a)[k])) fits = false;
    }
    s->all_elements = true;
  } else if (const auto* o = v.if_object(); o && r.what == op::unevaluated_properties) {
    std::size_t index = 0;
    for (const auto& member : *o) {
      if (!spend()) return true;
      if (!s->has_member(index++) && !at(std::string_view(member.key()), r.at, member.value())) fits = false;
    }
    s->all_members = true;
  }
  return fits;
}

json_schema::verdict json_schema::check(const json::raw_json& value) const {
  std::array<std::byte, 4096> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  const auto read = tree::read(value.text(), max_depth, memory);
  if (read) return evaluator(*program_).run(*read);
  for (const auto told : {tree::half_pair, tree::too_many_values, tree::too_many_members})
    if (read.error().message == told) return {{}, false, told};
  return {{}, false, {}};
}

}  // namespace mcpbx::providers::schema
