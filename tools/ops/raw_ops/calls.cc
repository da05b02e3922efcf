#include "ops/raw_ops/calls.h"

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

std::string ValueOf(const RawAttr& attr) { return StrCat("v.Attr<", attr.type, ">(\"", attr.attr->name, "\")"); }

std::string CallOf(const RawFunction& f) {
  std::vector<std::string> values;
  if (f.takes_graph) values.push_back("v.graph()");
  for (const RawInput& input : f.inputs) {
    const bool is_list = input.kind == RawInput::Kind::kList;
    values.push_back(StrCat(is_list ? "v.List(\"" : "v.One(\"", input.arg->name, "\")"));
  }
  for (const RawAttr& attr : f.required) values.push_back(ValueOf(attr));
  if (f.has_options_struct()) {
    std::vector<std::string> options;
    for (const RawAttr& option : f.options) options.push_back(StrCat(".", option.name, " = ", ValueOf(option)));
    options.push_back(".name = v.name()");
    values.push_back(StrCat("{", StrJoin(options, ", "), "}"));
  } else {
    values.push_back("v.name()");
  }
  return StrCat("raw_ops::", f.op->name, "(", StrJoin(values, ", "), ")");
}

}  // namespace

std::string RawOpsCalls(const std::vector<RawFunction>& functions) {
  std::string text = "// Written by tools/ops; do not edit.\n";
  for (const RawFunction& f : functions) {
    text += StrCat("{\"", f.op->name, "\", [](RawValues& v) { ");
    if (f.has_result_struct()) {
      std::vector<std::string> results = {"r.operation"};
      for (const RawOutput& output : f.outputs) results.push_back("r." + output.name);
      text += StrCat("const auto r = ", CallOf(f), "; v.SetResult(", StrJoin(results, ", "), "); }},\n");
    } else {
      text += StrCat("v.SetResult(", CallOf(f), "); }},\n");
    }
  }
  return text;
}

}  // namespace tensorbraid
