#include "ops/linalg/einsum.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg/registration.h"

namespace tensorbraid {
namespace {

StatusOr<std::vector<int>> ParseLabels(std::string_view text, std::string_view equation) {
  std::vector<int> labels;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] != '.') {
      labels.push_back(static_cast<unsigned char>(text[i]));
      continue;
    }
    if (text.substr(i, 3) != "..." || has_ellipsis)
      return InvalidArgument("'", equation,
                             "' is not a valid equation: '.' may only occur in an ellipsis '...', once per operand");
    has_ellipsis = true;
    labels.push_back(EinsumEquation::kEllipsis);
    i += 2;
  }
  return labels;
}

bool Has(const std::vector<int>& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Status EinsumShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(EinsumEquation e, ParseEinsum(c.attr<std::string>("equation")));
  if (static_cast<int>(e.inputs.size()) != c.num_inputs()) {
    return InvalidArgument("the equation '", c.attr<std::string>("equation"), "' has ", e.inputs.size(),
                           " operands, but the op has ", c.num_inputs());
  }
  std::vector<Shape> shapes;
  std::vector<int> ranks;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).has_rank()) return OkStatus();
    shapes.push_back(c.input(i));
    ranks.push_back(c.input(i).rank());
  }
  TF_ASSIGN_OR_RETURN(e, ExpandEinsum(e, ranks));
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, EinsumSizes(e, shapes));
  Shape out;
  for (int label : e.output) out.AddDim(sizes[label]);
  c.set_output(0, std::move(out));
  return OkStatus();
}

}  // namespace

StatusOr<EinsumEquation> ParseEinsum(std::string_view equation) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos || equation.find("->", arrow + 2) != std::string_view::npos) {
    return InvalidArgument("'", equation, "' is not a valid equation: it must have exactly one '->'");
  }
  EinsumEquation e;
  std::string_view operands = equation.substr(0, arrow);
  while (true) {
    const size_t comma = operands.find(',');
    TF_ASSIGN_OR_RETURN(std::vector<int> labels, ParseLabels(operands.substr(0, comma), equation));
    e.inputs.push_back(std::move(labels));
    if (comma == std::string_view::npos) break;
    operands.remove_prefix(comma + 1);
  }
  if (e.inputs.size() > 2) {
    return InvalidArgument("'", equation, "' has ", e.inputs.size(), " operands; there must be one or two");
  }
  TF_ASSIGN_OR_RETURN(e.output, ParseLabels(equation.substr(arrow + 2), equation));
  for (int label : e.output) {
    // An ellipsis may stand for no axes at all.
    const bool known = label == EinsumEquation::kEllipsis ||
                       std::any_of(e.inputs.begin(), e.inputs.end(), [&](const auto& in) { return Has(in, label); });
    if (!known) return InvalidArgument("the result of '", equation, "' has a label that no operand has");
  }
  return e;
}

StatusOr<EinsumEquation> ExpandEinsum(const EinsumEquation& e, std::span<const int> ranks) {
  std::vector<int> hidden;  // number of axes that the ellipsis of each operand stands for
  int most = 0;
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    const int labels = static_cast<int>(e.inputs[i].size());
    const bool has_ellipsis = Has(e.inputs[i], EinsumEquation::kEllipsis);
    if (has_ellipsis ? ranks[i] < labels - 1 : ranks[i] != labels) {
      return InvalidArgument("operand ", i, " has rank ", ranks[i], ", but the equation requires rank ",
                             labels - (has_ellipsis ? 1 : 0), has_ellipsis ? " or more" : "");
    }
    hidden.push_back(has_ellipsis ? ranks[i] - labels + 1 : 0);
    most = std::max(most, hidden.back());
  }
  if (most > 0 && !Has(e.output, EinsumEquation::kEllipsis)) {
    return InvalidArgument("the axes of an ellipsis must be in the result, which has no ellipsis");
  }
  const auto expand = [most](const std::vector<int>& labels, int count) {
    std::vector<int> result;
    for (int label : labels) {
      if (label != EinsumEquation::kEllipsis) {
        result.push_back(label);
        continue;
      }
      for (int k = most - count; k < most; ++k) result.push_back(EinsumEquation::kEllipsis + 1 + k);
    }
    return result;
  };
  EinsumEquation expanded;
  for (size_t i = 0; i < e.inputs.size(); ++i) expanded.inputs.push_back(expand(e.inputs[i], hidden[i]));
  expanded.output = expand(e.output, most);
  return expanded;
}

StatusOr<std::vector<int64_t>> EinsumSizes(const EinsumEquation& e, std::span<const Shape> shapes) {
  std::vector<int64_t> sizes(EinsumEquation::kEllipsis, Shape::kUnknownDim);
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    for (size_t axis = 0; axis < e.inputs[i].size(); ++axis) {
      const size_t label = e.inputs[i][axis];
      if (label >= sizes.size()) sizes.resize(label + 1, Shape::kUnknownDim);
      const int64_t own = shapes[i].dim(static_cast<int>(axis));
      int64_t& size = sizes[label];
      if (own < 0 || own == size) continue;
      const bool broadcasts = label > EinsumEquation::kEllipsis;
      if (size < 0 || (broadcasts && size == 1)) {
        // If one operand's size is unknown and the other's is 1, the size is corrected below.
        size = own;
      } else if (!(broadcasts && own == 1)) {
        return InvalidArgument("a label has different sizes ", size, " and ", own, " in shapes ", shapes[0],
                               shapes.size() > 1 ? StrCat(" and ", shapes[1]) : "");
      }
    }
  }
  // A broadcast size stays unknown if it is 1 in one operand and unknown in the other.
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    for (size_t axis = 0; axis < e.inputs[i].size(); ++axis) {
      const int label = e.inputs[i][axis];
      if (label > EinsumEquation::kEllipsis && shapes[i].dim(static_cast<int>(axis)) < 0 && sizes[label] == 1) {
        sizes[label] = Shape::kUnknownDim;
      }
    }
  }
  return sizes;
}

void RegisterLinalgEinsumOps(OpRegistry& r) {
  r.Add(Op("Einsum")
            .Input("inputs: N * T")
            .Output("output: T")
            .Attr("equation: string")
            .Attr("N: int >= 1")
            .Attr("T: type")
            .Shape(EinsumShape));
}

}  // namespace tensorbraid
