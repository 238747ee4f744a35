// One check of one value: walks the program along the value. The first walk is fast and collects nothing; only a value
// that does not fit is walked again for places and reasons.
#pragma once
#include "providers/schema/validator/schema_program.hpp"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace mcpbx::providers::schema {

/// Members and elements of the present value that some keyword has evaluated, for unevaluated*.
struct seen {
  bool all_members = false, all_elements = false;
  std::vector<bool> members, elements;  // by position; shorter means false
  void member(std::size_t i) { mark(members, i); }
  void element(std::size_t i) { mark(elements, i); }
  bool has_member(std::size_t i) const { return all_members || (i < members.size() && members[i]); }
  bool has_element(std::size_t i) const { return all_elements || (i < elements.size() && elements[i]); }
  void join(const seen& other);

 private:
  static void mark(std::vector<bool>& v, std::size_t i) {
    if (v.size() <= i) v.resize(i + 1);
    v[i] = true;
  }
};

class evaluator {
 public:
  explicit evaluator(const program& p) : p_(p) {}
  json_schema::verdict run(const tree::value& v);

 private:
  using value = tree::value;
  using step = std::variant<std::string_view, std::size_t>;

  bool spend(std::size_t n = 1);
  bool node_fits(node_id id, const value& v, seen* s);
  bool rules_fit(const node& n, const value& v, seen* s);
  bool rule_fits(const rule& r, const value& v, seen* s);
  bool simple_fits(const rule& r, const value& v);
  bool required_fits(const value& names, const tree::object& o, std::string_view because);
  bool members_fit(const member_rules& m, const tree::object& o, seen* s);
  bool items_fit(const item_rules& i, const tree::array& a, seen* s);
  bool contains_fits(const contains_rules& c, const tree::array& a, seen* s);
  bool unique(const tree::array& a);
  bool any_fits(const std::vector<node_id>& list, const value& v, seen* s, bool exactly_one);
  bool condition_fits(const condition_rules& c, const value& v, seen* s);
  bool names_fit(node_id id, const tree::object& o);
  bool dependents_fit(const rule& r, const value& v, seen* s);
  bool dynamic_fits(const dynamic_rules& d, const value& v, seen* s);
  bool unevaluated_fit(const rule& r, const value& v, seen* s);
  bool at(step where, node_id id, const value& v);
  bool silently(node_id id, const value& v, seen* s);
  pattern::outcome search(std::uint32_t index, std::string_view text);

  // Telling; all of these do nothing in a silent walk.
  bool telling() const { return told_ != nullptr; }
  bool enough() const { return told_->size() >= json_schema::max_violations; }
  void tell(std::string expected, std::string found);
  void tell_unknown_member(const member_rules& m, std::string_view name);
  void tell_alternatives(const std::vector<node_id>& list, const value& v);
  std::string path() const;

  const program& p_;
  std::size_t steps_ = json_schema::max_steps;
  int depth_ = 0;
  bool exhausted_ = false;
  std::vector<std::uint32_t> scope_;  // resources, the outermost first
  std::vector<step> path_;            // kept only while telling
  std::vector<violation>* told_ = nullptr;
};

}  // namespace mcpbx::providers::schema
