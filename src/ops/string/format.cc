// StringFormat: schema and shape rule.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status FormatShape(ShapeContext& c) {
  const auto& text = c.attr<std::string>("template");
  const auto& placeholder = c.attr<std::string>("placeholder");
  int count = 0;
  for (size_t at = 0; !placeholder.empty() && (at = text.find(placeholder, at)) != std::string::npos; ++count) {
    at += placeholder.size();
  }
  if (count != c.num_inputs()) {
    return InvalidArgument("the template has ", count, " placeholders, but there are ", c.num_inputs(), " inputs");
  }
  c.set_output(0, Shape());
  return OkStatus();
}

}  // namespace

void RegisterStringFormatOps(OpRegistry& r) {
  r.Add(Op("StringFormat")
            .Input("inputs: T")
            .Output("output: string")
            .Attr("T: list(type) >= 0")
            .Attr("template: string = '%s'")
            .Attr("placeholder: string = '%s'")
            .Attr("summarize: int = 3")
            .Shape(FormatShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
