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

/// Filters that are not in jinja::filters().
bool is_text_filter(std::string_view name) noexcept {
  static const Names names = {"capitalize", "count", "d", "lower", "replace", "title", "tojson", "trim", "upper"};
  return names.contains(name);
}

bool is_filter(const std::string& name) {
  return is_text_filter(name) || jinja::filters().contains(name);
}

bool is_test(const std::string& name) {
  return name != "escaped" && jinja::global_builtins().contains("test_is_" + name);
}

/// Methods of texts, lists and objects.
bool is_method(const std::string& name) {
  return jinja::text_methods().contains(name) || jinja::list_methods().contains(name) ||
         jinja::object_methods().contains(name);
}

/// Whether a format of str.format() has more than names and numbers in its braces.
bool has_specification(const std::string& format) {
  for (std::size_t at = 0; (at = format.find('{', at)) != std::string::npos;) {
    if (format.compare(at, 2, "{{") == 0) {
      at += 2;
      continue;
    }
    const std::size_t end = std::min(format.find('}', at), format.size());
    if (format.substr(at, end - at).find_first_of(".[!:") != std::string::npos) return true;
    at = end;
  }
  return false;
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
    if (const auto* loop = as<jinja::for_statement>(node)) {
      add_names(loop->loopvar.get(), defined_);
      if (loop->recursive) defined_.insert("loop");
    }
    if (const auto* block = as<jinja::with_statement>(node)) {
      for (const auto& target : block->targets) add_names(target.get(), defined_);
    }
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
    if (!is_filter(id)) report(*name, "the filter '" + id + "'");
    if (call == nullptr || call->args.empty()) return;
    // map('upper') and select('odd') name a filter or a test.
    const auto named = [&call](std::size_t position) {
      return position < call->args.size() ? as<jinja::string_literal>(call->args[position].get()) : nullptr;
    };
    const auto* mapped = id == "map" ? named(0) : nullptr;
    if (mapped != nullptr && !is_filter(mapped->val)) report(*name, "the filter '" + mapped->val + "'");
    const bool by_attribute = id == "selectattr" || id == "rejectattr";
    const auto* test = by_attribute ? named(1) : id == "select" || id == "reject" ? named(0) : nullptr;
    if (test != nullptr && !is_test(test->val)) report(*name, "the test '" + test->val + "'");
  }

  void look_at_test(const jinja::statement* test) {
    const auto* call = as<jinja::call_expression>(test);
    const auto* name = as<jinja::identifier>(call != nullptr ? call->callee.get() : test);
    if (call != nullptr) look(call->args);
    if (name == nullptr) return;
    if (!is_test(name->val)) report(*name, "the test '" + name->val + "'");
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
    const bool finds =
        name->val == "find" || name->val == "rfind" || name->val == "startswith" || name->val == "endswith";
    if (finds && call.args.size() > 1) report(*name, "the method '" + name->val + "' with a position");
    const auto* format = as<jinja::string_literal>(member->object.get());
    if (name->val == "format" && format != nullptr && has_specification(format->val)) {
      report(*name, "the method 'format' with a specification");
    }
    if (!is_method(name->val) && !defined_.contains(name->val)) {
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
