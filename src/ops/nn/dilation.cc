// Grayscale dilation: schemas, shape rules, gradients.
#include "ops/nn/dilation.h"

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status DilationShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(c.node(), 2, "rates"));
  const Shape output = c.num_inputs() > 2 ? c.input(2) : Shape::Unknown();
  TF_ASSIGN_OR_RETURN(const Dilation d, MakeDilation(attrs, c.input(0), c.input(1), output));
  const std::string& op = c.node().type();
  c.set_output(0, op == "Dilation2D"                ? d.OutputShape()
                  : op == "Dilation2DBackpropInput" ? d.InputShape()
                                                    : d.FilterShape());
  return OkStatus();
}

Status DilationGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();
  for (const int i : {0, 1}) {
    NodeBuilder b(*op.graph(), i == 0 ? "Dilation2DBackpropInput" : "Dilation2DBackpropFilter");
    b.Input(in[0]).Input(in[1]).Input(grads[0]);
    for (const char* attr : {"strides", "rates", "padding"}) b.Attr(attr, *NodeOf(op)->FindAttr(attr));
    (*input_grads)[i] = b.Output();
  }
  return OkStatus();
}

}  // namespace

StatusOr<Dilation> MakeDilation(const WindowAttrs& attrs, const Shape& input, const Shape& filter,
                                const Shape& output) {
  const auto ranked = [](const char* what, const Shape& shape, int rank) -> StatusOr<Shape> {
    if (!shape.has_rank()) return Shape::UnknownOfRank(rank);
    if (shape.rank() != rank) return InvalidArgument(what, " must have rank ", rank, ", got shape ", shape);
    return shape;
  };
  TF_ASSIGN_OR_RETURN(const Shape x, ranked("the input", input, 4));
  TF_ASSIGN_OR_RETURN(const Shape f, ranked("the filter", filter, 3));
  TF_ASSIGN_OR_RETURN(const Shape y, ranked("the gradient of the output", output, 4));
  if (x.dim(3) >= 0 && f.dim(2) >= 0 && x.dim(3) != f.dim(2)) {
    return InvalidArgument("the filter must have as many channels as the input: the input ", x, " has ", x.dim(3),
                           ", the filter ", f, " has ", f.dim(2));
  }
  Dilation d;
  d.batch = x.dim(0) >= 0 ? x.dim(0) : y.dim(0);
  d.channels = x.dim(3) >= 0 ? x.dim(3) : f.dim(2);
  for (const int i : {0, 1}) {
    auto axis = attrs.Place(i, x.dim(i + 1), f.dim(i), WindowUse::kForward);
    if (!axis.ok()) return Annotate(axis.status(), StrCat("input ", x, " with filter ", f));
    (i == 0 ? d.height : d.width) = *axis;
  }
  if (!y.IsCompatibleWith(d.OutputShape())) {
    return InvalidArgument("the gradient of the output must have shape ", d.OutputShape(), " for input ", x,
                           " and filter ", f, ", got ", y);
  }
  return d;
}

void RegisterNnDilationOps(OpRegistry& r) {
  const auto add = [](const char* op, const char* output) {
    Op def(op);
    def.Input("input: T").Input("filter: T");
    if (std::string_view(op) != "Dilation2D") def.Input("out_backprop: T");
    def.Output(output)
        .Attr("T: realnumbertype")
        .Attr("strides: list(int) >= 4")
        .Attr("rates: list(int) >= 4")
        .Attr("padding: {'SAME', 'VALID'}")
        .Shape(DilationShape);
    return def;
  };
  r.Add(add("Dilation2D", "output: T").Gradient(DilationGradient));
  // As in TensorFlow, these ops have no gradients.
  r.Add(add("Dilation2DBackpropInput", "in_backprop: T"));
  r.Add(add("Dilation2DBackpropFilter", "filter_backprop: T"));
}

}  // namespace tensorbraid
