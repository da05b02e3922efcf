// The parsing of Einsum equations, and the schema, shape rule and gradient of Einsum.
#include "ops/linalg/einsum.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

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

namespace {

using Labels = std::vector<int>;

Output EinsumOf(const std::vector<Output>& operands, const std::vector<Labels>& labels, const Labels& result) {
  const auto text = [](const Labels& of) {
    std::string s;
    for (int label : of) s += label == EinsumEquation::kEllipsis ? "..." : std::string(1, static_cast<char>(label));
    return s;
  };
  std::string equation;
  for (const Labels& operand : labels)
    equation += (equation.empty() && &operand == &labels[0] ? "" : ",") + text(operand);
  return NodeBuilder(*operands[0].graph(), "Einsum")
      .InputList(operands)
      .Attr("equation", equation + "->" + text(result))
      .Output();
}

// The sizes, in the shape of an operand, of the axes that the labels [begin, end) of the operand stand for. An axis
// after an ellipsis is counted from the last axis, because the number of axes of the ellipsis is not known.
Output SizesOf(Output shape, const Labels& labels, size_t begin, size_t end) {
  const auto ellipsis =
      static_cast<size_t>(std::find(labels.begin(), labels.end(), EinsumEquation::kEllipsis) - labels.begin());
  const auto axis = [&](size_t i) {
    return static_cast<int64_t>(i) - (i > ellipsis ? static_cast<int64_t>(labels.size()) : 0);
  };
  return StridedSlice(shape, {axis(begin)}, {axis(end)}, {1}, {.end_mask = end == labels.size() ? 1 : 0});
}

// The gradient, before sums over broadcast axes, for an operand with the labels `own` and the shape `shape`. `factors`
// are the gradient of the result and the other operand, if any, and `labels` are their labels. If only this operand has
// a label, Einsum sums over it, so all elements along its axis have the same gradient. A factor of ones repeats the
// gradient along such axes.
Output EinsumOperandGradient(std::vector<Output> factors, std::vector<Labels> labels, const Labels& own, Output shape) {
  Graph& g = *shape.graph();
  Labels summed;
  std::vector<Operand> sizes;
  for (size_t i = 0; i < own.size(); ++i) {
    const bool known = own[i] == EinsumEquation::kEllipsis || Has(summed, own[i]) ||
                       std::any_of(labels.begin(), labels.end(), [&](const Labels& l) { return Has(l, own[i]); });
    if (known) continue;
    summed.push_back(own[i]);
    sizes.emplace_back(SizesOf(shape, own, i, i + 1));
  }
  if (summed.empty()) return EinsumOf(factors, labels, own);
  const Output dims = sizes.size() == 1 ? sizes[0].ToOutput(g) : Concat(sizes, 0);
  const Output ones = Fill(g, dims, Operand(1).ToOutput(g, factors[0].dtype()));
  if (factors.size() == 1) return EinsumOf({factors[0], ones}, {labels[0], summed}, own);
  // Einsum takes at most two operands, so the factor of ones is multiplied by a second Einsum.
  Labels rest;
  for (int label : own) {
    if (!Has(summed, label)) rest.push_back(label);
  }
  return EinsumOf({EinsumOf(factors, labels, rest), ones}, {rest, summed}, own);
}

Status EinsumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  TF_ASSIGN_OR_RETURN(EinsumEquation e, ParseEinsum(NodeOf(op)->attr<std::string>("equation")));
  const auto& in = NodeOf(op)->inputs();
  const bool broadcasts = Has(e.output, EinsumEquation::kEllipsis);
  // If the result has no ellipsis, the ellipses of the operands stand for no axis.
  for (Labels& labels : e.inputs) {
    if (!broadcasts) std::erase(labels, EinsumEquation::kEllipsis);
  }
  if (in.size() == 1) {
    (*input_grads)[0] = EinsumOperandGradient({grads[0]}, {e.output}, e.inputs[0], ShapeOf(in[0]));
    return OkStatus();
  }
  // An operand without an ellipsis gets an empty one at its end. There its gradient gets the axes of the other
  // operand's ellipsis, which are then summed over.
  for (Labels& labels : e.inputs) {
    if (broadcasts && !Has(labels, EinsumEquation::kEllipsis)) labels.push_back(EinsumEquation::kEllipsis);
  }
  const Output shapes[] = {ShapeOf(in[0]), ShapeOf(in[1])};
  // The sizes of the axes that the ellipsis of operand i stands for, and the number of the first of these axes.
  const auto batch = [&](int i) {
    const Labels& labels = e.inputs[i];
    const auto at =
        static_cast<size_t>(std::find(labels.begin(), labels.end(), EinsumEquation::kEllipsis) - labels.begin());
    return std::pair(SizesOf(shapes[i], labels, at, at + 1), static_cast<int64_t>(at));
  };
  for (int i = 0; i < 2; ++i) {
    const int other = 1 - i;
    Output grad =
        EinsumOperandGradient({grads[0], Conjugated(in[other])}, {e.output, e.inputs[other]}, e.inputs[i], shapes[i]);
    if (broadcasts) {
      const auto [own_batch, first] = batch(i);
      const Output axes =
          NodeBuilder(*op.graph(), "BroadcastGradientArgs").Input(own_batch).Input(batch(other).first).Output();
      grad = Reshape(ReduceSum(grad, axes + first), shapes[i]);
    }
    (*input_grads)[i] = grad;
  }
  return OkStatus();
}

}  // namespace

void RegisterLinalgEinsumOps(OpRegistry& r) {
  r.Add(Op("Einsum")
            .Input("inputs: N * T")
            .Output("output: T")
            .Attr("equation: string")
            .Attr("N: int >= 1")
            .Attr("T: type")
            .Shape(EinsumShape)
            .Gradient(EinsumGradient));
}

}  // namespace tensorbraid
