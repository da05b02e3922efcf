// Einsum: one product of batches of matrices, with the axes of operands and result arranged around it.
#include "ops/linalg/einsum.h"

#include <algorithm>

#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
int64_t PlaceOf(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

// An operand or a result: a tensor, and a label for each axis.
struct Term {
  Expr tensor;
  Labels labels;
};

// Whether two axes have the same index.
Expr OnDiagonal(const Expr& x, int64_t axis, int64_t other) {
  stablehlo::Builder& b = x.builder();
  return Expr(b, b.Iota(kInt64, x.shape(), static_cast<int>(axis))) ==
         Expr(b, b.Iota(kInt64, x.shape(), static_cast<int>(other)));
}

// The term with its axes in the order of `order`, and summed over the axes whose labels are not in it. A label that
// occurs twice stands for a diagonal.
Term Arranged(Term term, const Labels& order) {
  stablehlo::Builder& b = term.tensor.builder();
  std::vector<int64_t> summed;
  Labels kept;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const int label = term.labels[i];
    const int64_t first = PlaceOf(term.labels, label);
    if (first < static_cast<int64_t>(i)) {
      term.tensor = Select(OnDiagonal(term.tensor, first, static_cast<int64_t>(i)), term.tensor, 0);
    }
    if (first < static_cast<int64_t>(i) || !Has(order, label)) {
      summed.push_back(static_cast<int64_t>(i));
    } else {
      kept.push_back(label);
    }
  }
  if (!summed.empty()) {
    const stablehlo::Value zero = b.Splat(term.tensor.dtype(), 0);
    term.tensor = {b, b.Reduce(term.tensor.value(), zero, summed,
                               [&](const auto& x, const auto& y) { return b.Binary("add", x, y); })};
  }
  std::vector<int64_t> permutation;
  Labels labels;
  for (const int label : order) {
    if (!Has(kept, label)) continue;
    permutation.push_back(PlaceOf(kept, label));
    labels.push_back(label);
  }
  if (!std::is_sorted(permutation.begin(), permutation.end())) {
    term.tensor = {b, b.Transpose(term.tensor.value(), permutation)};
  }
  term.labels = std::move(labels);
  return term;
}

// Spreads the axes of an ellipsis that have size 1 in one operand only.
void Spread(Term& term, const std::vector<int64_t>& sizes) {
  Shape shape;
  std::vector<int64_t> dims;
  for (const int label : term.labels) {
    dims.push_back(shape.rank());
    shape.AddDim(sizes[label]);
  }
  if (shape == term.tensor.shape()) return;
  stablehlo::Builder& b = term.tensor.builder();
  term.tensor = {b, b.BroadcastInDim(term.tensor.value(), shape, dims)};
}

// The sum of products of two operands. A label is a batch dimension if both operands and the output have it,
// contracted if only the operands have it.
Term Product(Term x, Term y, const Labels& output) {
  stablehlo::Builder& b = x.tensor.builder();
  Labels wanted;
  for (const int label : output) {
    if (!Has(wanted, label)) wanted.push_back(label);
  }
  for (const int label : x.labels) {
    if (Has(y.labels, label) && !Has(wanted, label)) wanted.push_back(label);
  }
  x = Arranged(std::move(x), wanted);
  y = Arranged(std::move(y), wanted);
  stablehlo::Builder::DotDimensions dims;
  Term result{x.tensor, {}};
  for (const int label : x.labels) {
    if (!Has(y.labels, label)) continue;
    const bool is_batch = Has(output, label);
    (is_batch ? dims.x_batch : dims.x_contracting).push_back(PlaceOf(x.labels, label));
    (is_batch ? dims.y_batch : dims.y_contracting).push_back(PlaceOf(y.labels, label));
    if (is_batch) result.labels.push_back(label);
  }
  for (const auto& [own, other] : {std::pair(&x.labels, &y.labels), std::pair(&y.labels, &x.labels)}) {
    for (const int label : *own) {
      if (!Has(*other, label)) result.labels.push_back(label);
    }
  }
  result.tensor = {b, b.Dot(x.tensor.value(), y.tensor.value(), dims)};
  return result;
}

// The term with the axes of the output. A label that occurs twice in it gives a diagonal, with 0 beside it.
Expr Placed(Term term, const Labels& output, const std::vector<int64_t>& sizes) {
  stablehlo::Builder& b = term.tensor.builder();
  Labels distinct;
  Shape shape;
  std::vector<int64_t> dims;
  for (const int label : output) {
    if (!Has(distinct, label)) {
      distinct.push_back(label);
      dims.push_back(shape.rank());
    }
    shape.AddDim(sizes[label]);
  }
  term = Arranged(std::move(term), distinct);
  if (distinct == output) return term.tensor;
  Expr result(b, b.BroadcastInDim(term.tensor.value(), shape, dims));
  for (size_t i = 0; i < output.size(); ++i) {
    const int64_t first = PlaceOf(output, output[i]);
    if (first == static_cast<int64_t>(i)) continue;
    result = Select(OnDiagonal(result, first, static_cast<int64_t>(i)), result, 0);
  }
  return result;
}

Status EmitEinsum(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const EinsumEquation parsed, ParseEinsum(ctx.attr<std::string>("equation")));
  if (static_cast<int>(parsed.inputs.size()) != ctx.num_inputs()) {
    return InvalidArgument("the equation has ", parsed.inputs.size(), " operands, but the op has ", ctx.num_inputs(),
                           " inputs");
  }
  std::vector<Shape> shapes;
  std::vector<int> ranks;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(Shape shape, ctx.input_shape(i));
    ranks.push_back(shape.rank());
    shapes.push_back(std::move(shape));
  }
  TF_ASSIGN_OR_RETURN(const EinsumEquation e, ExpandEinsum(parsed, ranks));
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, EinsumSizes(e, shapes));
  std::vector<Term> terms;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, i));
    terms.push_back({x, e.inputs[i]});
    Spread(terms.back(), sizes);
  }
  SetOutput(ctx, 0, Placed(terms.size() == 1 ? terms[0] : Product(terms[0], terms[1], e.output), e.output, sizes));
  return OkStatus();
}

}  // namespace

void RegisterLinalgEinsumEmitters(EmitterRegistry& r) { r.Add("Einsum", {{"T", kNumbers}}, EmitEinsum); }

}  // namespace tensorbraid::pjrt
