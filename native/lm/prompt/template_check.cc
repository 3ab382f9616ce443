#include "lm/prompt/template_check.h"

#include <algorithm>
#include <exception>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "core/values/utf8.h"
#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/value.h"
#include "lm/prompt/chat_template.h"

namespace lorekeep::lm {
namespace {

using Names = std::set<std::string, std::less<>>;

/// Names that the engine knows only to refuse them, and `format`, which it reads as Python's str.format().
bool is_refused_filter(std::string_view name) noexcept {
  return name == "unique" || name == "format";
}

bool is_refused_test(std::string_view name) noexcept {
  return name == "sameas" || name == "escaped" || name == "filter";
}

/// Filters and methods of all types.
const Names& methods() {
  static const Names names = [] {
    Names all;
    const auto add = [&all](const jinja::value& value) {
      for (const auto& [name, handler] : value->get_builtins()) all.insert(name);
    };
    add(jinja::mk_val<jinja::value_int>(0));
    add(jinja::mk_val<jinja::value_float>(0.0));
    add(jinja::mk_val<jinja::value_string>(std::string("")));
    add(jinja::mk_val<jinja::value_bool>(false));
    add(jinja::mk_val<jinja::value_array>());
    add(jinja::mk_val<jinja::value_object>());
    return all;
  }();
  return names;
}

/// Other names of filters.
bool is_alias(std::string_view name) noexcept {
  return name == "count" || name == "d" || name == "trim";
}

/// Functions that templates get beside those of the engine.
bool is_given(std::string_view name) noexcept {
  return name == "raise_exception" || name == "caller";
}

template <typename T>
const T* as(const jinja::statement* node) noexcept {
  return dynamic_cast<const T*>(node);
}

/// Adds the names of a target of an assignment.
void add_names(const jinja::statement* target, Names& names) {
  if (const auto* one = as<jinja::identifier>(target)) names.insert(one->val);
  if (const auto* keyword = as<jinja::keyword_argument_expression>(target)) add_names(keyword->key.get(), names);
  if (const auto* member = as<jinja::member_expression>(target)) add_names(member->property.get(), names);
  if (const auto* several = as<jinja::tuple_literal>(target)) {
    for (const auto& each : several->val) add_names(each.get(), names);
  }
}

class Check {
 public:
  explicit Check(const std::string& source) : source_(source) {
    below_.visitor = [this](bool, const jinja::statement*, const std::vector<jinja::visitor_pair>& children) {
      for (const auto& [label, nodes] : children) {
        for (const jinja::statement* child : nodes) look(child);
      }
    };
  }

  std::vector<std::string> of(const jinja::program& program) {
    for (const bool collects : {true, false}) {
      collects_ = collects;
      look(program.body);
      std::reverse(next_.begin(), next_.end());
      while (!next_.empty()) {
        const jinja::statement* node = next_.back();
        next_.pop_back();
        const std::size_t children = next_.size();
        look_at(node);
        std::reverse(next_.begin() + static_cast<std::ptrdiff_t>(children), next_.end());
      }
    }
    return std::move(found_);
  }

 private:
  /// Notes a node that is looked at later: a tree may be deeper than the stack.
  void look(const jinja::statement* node) {
    if (node != nullptr) next_.push_back(node);
  }

  void look_at(const jinja::statement* node) {
    if (const auto* filter = as<jinja::filter_expression>(node)) {
      look(filter->operand.get());
      look_at_filter(filter->filter.get());
    } else if (const auto* block = as<jinja::filter_statement>(node)) {
      look_at_filter(block->filter.get());
      look(block->body);
    } else if (const auto* test = as<jinja::test_expression>(node)) {
      look(test->operand.get());
      look_at_test(test->test.get());
    } else if (const auto* call = as<jinja::call_expression>(node)) {
      look_at_call(*call);
    } else if (const auto* list = as<jinja::array_literal>(node)) {
      look(list->val);
    } else if (const auto* tuple = as<jinja::tuple_literal>(node)) {
      look(tuple->val);
    } else if (const auto* object = as<jinja::object_literal>(node)) {
      for (const auto& [key, value] : object->val) {
        look(key.get());
        look(value.get());
      }
    } else {
      if (collects_) collect(node);
      node->visit(below_);
    }
  }

  void look(const jinja::statements& nodes) {
    for (const auto& node : nodes) look(node.get());
  }

  void collect(const jinja::statement* node) {
    if (const auto* set = as<jinja::set_statement>(node)) add_names(set->assignee.get(), defined_);
    if (const auto* loop = as<jinja::for_statement>(node)) add_names(loop->loopvar.get(), defined_);
    if (const auto* macro = as<jinja::macro_statement>(node)) {
      add_names(macro->name.get(), defined_);
      for (const auto& argument : macro->args) add_names(argument.get(), defined_);
    }
  }

  void look_at_filter(const jinja::statement* filter) {
    const auto* call = as<jinja::call_expression>(filter);
    const auto* name = as<jinja::identifier>(call != nullptr ? call->callee.get() : filter);
    if (call != nullptr) look(call->args);
    if (name == nullptr) return;
    const std::string& id = name->val;
    const bool known = !is_refused_filter(id) && (is_alias(id) || methods().contains(id));
    if (!known) report(*name, "the filter '" + id + "'");
    if (call == nullptr || call->args.empty()) return;
    const jinja::statement* first = call->args.front().get();
    if (id == "map" && as<jinja::keyword_argument_expression>(first) == nullptr) {
      report(*name, "the filter 'map' with the name of a filter");
    }
    if (id == "replace" && call->args.size() > 2) report(*name, "the filter 'replace' with a count");
    for (const auto& argument : call->args) {
      const auto* keyword = as<jinja::keyword_argument_expression>(argument.get());
      const auto* key = keyword == nullptr ? nullptr : as<jinja::identifier>(keyword->key.get());
      if (key == nullptr) continue;
      const bool refused = ((id == "min" || id == "max") && key->val == "attribute") ||
                           (id == "tojson" && key->val == "sort_keys") || (id == "replace" && key->val == "count");
      if (refused) report(*name, "the filter '" + id + "' with '" + key->val + "'");
    }
  }

  void look_at_test(const jinja::statement* test) {
    const auto* call = as<jinja::call_expression>(test);
    const auto* name = as<jinja::identifier>(call != nullptr ? call->callee.get() : test);
    if (call != nullptr) look(call->args);
    if (name == nullptr) return;
    const bool known = jinja::global_builtins().contains("test_is_" + name->val) && !is_refused_test(name->val);
    if (!known) report(*name, "the test '" + name->val + "'");
  }

  void look_at_call(const jinja::call_expression& call) {
    look(call.args);
    if (const auto* name = as<jinja::identifier>(call.callee.get())) {
      // namespace(f=...) makes a member.
      if (collects_) {
        for (const auto& argument : call.args) {
          if (as<jinja::keyword_argument_expression>(argument.get()) != nullptr) add_names(argument.get(), defined_);
        }
      }
      const bool known = is_given(name->val) || defined_.contains(name->val) ||
                         (jinja::global_builtins().contains(name->val) && !name->val.starts_with("test_is_"));
      if (!known) report(*name, "the function '" + name->val + "'");
      return;
    }
    const auto* member = as<jinja::member_expression>(call.callee.get());
    const auto* name = member == nullptr || member->computed ? nullptr : as<jinja::identifier>(member->property.get());
    if (name == nullptr) return look(call.callee.get());
    look(member->object.get());
    // A macro may be kept in a namespace.
    if (!methods().contains(name->val) && !defined_.contains(name->val)) {
      report(*name, "the method '" + name->val + "'");
    }
  }

  void report(const jinja::statement& node, const std::string& what) {
    if (collects_ || found_.size() >= kMostConstructs || !reported_.insert(what).second) return;
    const std::size_t end = std::min(node.pos, source_.size());
    const auto line = 1 + std::count(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    found_.push_back("line " + std::to_string(line) + ": " + repair_utf8(utf8_prefix(what, 100)));
  }

  const std::string& source_;
  std::vector<const jinja::statement*> next_;  // the last one comes first
  jinja::context below_;                       // looks at the children of a node that it visits
  bool collects_ = false;                      // names that the template defines; else what it uses
  Names defined_;
  Names reported_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> unknown_constructs(const jinja::program& program, const std::string& source) {
  return Check(source).of(program);
}

std::string note_of(const std::vector<std::string>& constructs) {
  if (constructs.empty()) return "";
  std::string list;
  for (const std::string& construct : constructs) list += (list.empty() ? "" : "; ") + construct;
  return "the chat template uses what is not supported: " + list + "; a conversation that reaches it fails";
}

std::string template_note(const std::string& source) {
  try {
    jinja::lexer lexer;
    return note_of(unknown_constructs(jinja::parse_from_tokens(lexer.tokenize(source)), source));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    const std::string_view reason = error.what();
    return "the chat template cannot be read: " + repair_utf8(utf8_prefix(reason.substr(0, reason.find('\n')), 200));
  }
}

}  // namespace lorekeep::lm
