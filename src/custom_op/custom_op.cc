#include "tensorbraid/custom_op/custom_op.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "custom_op/custom_ops.h"
#include "graph/model/node.h"
#include "graph/model/op_spec.h"

namespace tensorbraid {
namespace {

bool IsOpName(const std::string& name) {
  if (name.empty() || std::isupper(static_cast<unsigned char>(name[0])) == 0) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// Whether the default of an attribute is one of the values that it allows.
Status CheckDefault(const AttrDef& attr) {
  if (!attr.default_value) return OkStatus();
  const auto allowed = [](const auto& values, const auto& value) {
    return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
  };
  bool fits = true;
  if (const auto* type = attr.default_value->get<DType>()) fits = allowed(attr.allowed_types, *type);
  if (const auto* text = attr.default_value->get<std::string>()) fits = allowed(attr.allowed_strings, *text);
  if (const auto* number = attr.default_value->get<int64_t>()) fits = *number >= attr.minimum.value_or(*number);
  if (fits) return OkStatus();
  return InvalidArgument("attribute '", attr.name, "' does not allow its default");
}

// REQUIRES: the node's op is a custom op.
const CustomOp& DefinitionOf(const Node& node) { return static_cast<const CustomOpDef&>(node.op()).custom; }

class FunctionOpKernel final : public OpKernel {
 public:
  explicit FunctionOpKernel(std::function<Status(OpKernelContext&)> compute) : compute_(std::move(compute)) {}
  Status Compute(OpKernelContext& c) override { return compute_(c); }

 private:
  const std::function<Status(OpKernelContext&)> compute_;
};

}  // namespace

CustomOp::CustomOp(std::string name) : name_(std::move(name)) {}

CustomOp& CustomOp::Input(std::string spec) {
  inputs_.push_back(std::move(spec));
  return *this;
}
CustomOp& CustomOp::Output(std::string spec) {
  outputs_.push_back(std::move(spec));
  return *this;
}
CustomOp& CustomOp::Attr(std::string spec) {
  attrs_.push_back(std::move(spec));
  return *this;
}
CustomOp& CustomOp::Doc(std::string text) {
  doc_ = std::move(text);
  return *this;
}
CustomOp& CustomOp::Stateful() {
  stateful_ = true;
  return *this;
}
CustomOp& CustomOp::Shape(OpShapeFunction rule) {
  shape_ = std::move(rule);
  return *this;
}
CustomOp& CustomOp::Gradient(GradientFunction gradient) {
  gradient_ = std::move(gradient);
  return *this;
}
CustomOp& CustomOp::NotDifferentiable() {
  not_differentiable_ = true;
  return *this;
}
CustomOp& CustomOp::Cost(double flops_per_element) {
  flops_per_element_ = flops_per_element;
  return *this;
}
CustomOp& CustomOp::Kernel(OpKernelTypes types, OpKernelFactory create) {
  kernels_.push_back({std::move(types), std::move(create)});
  return *this;
}
CustomOp& CustomOp::KernelFunction(OpKernelTypes types, std::function<Status(OpKernelContext& c)> compute) {
  return Kernel(std::move(types), [compute](const OpKernelConstruction&) -> StatusOr<std::unique_ptr<OpKernel>> {
    if (!compute) return InvalidArgument("the kernel has no function");
    return std::unique_ptr<OpKernel>(std::make_unique<FunctionOpKernel>(compute));
  });
}

StatusOr<std::shared_ptr<const CustomOpDef>> CustomOps::Definition(CustomOp op) {
  if (!IsOpName(op.name_)) {
    return InvalidArgument("'", op.name_,
                           "' is not a name of an op: it must begin with a capital letter and consist of letters, "
                           "digits and _");
  }
  auto definition = std::make_shared<CustomOpDef>(std::move(op));
  const CustomOp& custom = definition->custom;
  OpDef& def = *definition;
  def.name = custom.name_;
  def.file = "custom/op";
  for (const std::string& spec : custom.inputs_) TF_RETURN_IF_ERROR(AddInput(spec, &def));
  for (const std::string& spec : custom.outputs_) TF_RETURN_IF_ERROR(AddOutput(spec, &def));
  for (const std::string& spec : custom.attrs_) TF_RETURN_IF_ERROR(AddAttr(spec, &def));
  TF_RETURN_IF_ERROR(ResolveArguments(&def));
  for (const std::vector<ArgDef>* args : {&def.inputs, &def.outputs}) {
    for (const ArgDef& arg : *args) {
      if (arg.is_ref || IsRef(arg.type)) {
        return InvalidArgument("'", arg.name, "': a custom op takes and returns values, not references");
      }
    }
  }
  for (const AttrDef& attr : def.attrs) TF_RETURN_IF_ERROR(CheckDefault(attr));
  if (custom.gradient_ && custom.not_differentiable_)
    return InvalidArgument("it has a gradient and is not differentiable");
  def.is_stateful = custom.stateful_;
  def.not_differentiable = custom.not_differentiable_;
  if (custom.shape_) def.shape_fn = InferShapes;
  if (custom.gradient_) def.gradient = Differentiate;
  return std::shared_ptr<const CustomOpDef>(std::move(definition));
}

Status CustomOps::CheckKernelTypes(const OpKernelTypes& types, const OpDef& definition) {
  constexpr size_t kMost = TypeConstraints::kMost;
  if (types.size() > kMost) return InvalidArgument("a kernel can restrict at most ", kMost, " attributes");
  for (const auto& [name, dtypes] : types) {
    const AttrDef* attr = definition.FindAttr(name);
    if (attr == nullptr || attr->type != "type") {
      return InvalidArgument("a kernel is for dtypes of '", name, "', which is no attribute of type 'type'");
    }
    for (const DType dtype : dtypes) {
      const std::vector<DType>& allowed = attr->allowed_types;
      if (allowed.empty() || std::find(allowed.begin(), allowed.end(), dtype) != allowed.end()) continue;
      return InvalidArgument("a kernel is for ", name, " = ", dtype, ", which '", name, "' does not allow");
    }
  }
  return OkStatus();
}

StatusOr<std::vector<KernelDef>> CustomOps::Kernels(const CustomOpDef& definition) {
  std::vector<KernelDef> kernels;
  for (const CustomOp::KernelOfTypes& kernel : definition.custom.kernels_) {
    TF_RETURN_IF_ERROR(CheckKernelTypes(kernel.types, definition));
    if (!kernel.create) return InvalidArgument("a kernel has no factory");
    std::vector<TypeConstraint> constraints;
    for (const auto& [attr, dtypes] : kernel.types) {
      TypeConstraint& constraint = constraints.emplace_back();
      constraint.attr = attr;
      for (const DType dtype : dtypes) constraint.types.Insert(dtype);
    }
    kernels.push_back({.op = definition.name,
                       .types = TypeConstraints(constraints),
                       .cost = EstimateCost,
                       .create = [&kernel](const KernelConstruction& c) { return MakeCustomKernel(kernel.create, c); },
                       .file = definition.file});
  }
  return kernels;
}

Status CustomOps::InferShapes(ShapeContext& c) {
  return WithoutExceptions("the shape rule", [&] {
    OpShapeContext context(c);
    return DefinitionOf(c.node()).shape_(context);
  });
}

Status CustomOps::Differentiate(const Operation& op, const std::vector<Output>& grads,
                                std::vector<Output>* input_grads) {
  const Node& node = *NodeOf(op);
  return WithoutExceptions("the gradient function", [&]() -> Status {
    std::vector<Output> made = DefinitionOf(node).gradient_(op, grads);
    // A function that has reported a mistake to the graph need not return gradients.
    TF_RETURN_IF_ERROR(op.graph()->status());
    if (made.size() != input_grads->size()) {
      return InvalidArgument("the gradient function of ", node.Describe(), " must return a gradient for each of its ",
                             input_grads->size(), " inputs, but returns ", made.size());
    }
    *input_grads = std::move(made);
    return OkStatus();
  });
}

Cost CustomOps::EstimateCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  double elements = 0;
  for (int i = 0; i < c.num_inputs(); ++i) elements = std::max(elements, c.input_elements(i));
  for (int i = 0; i < c.num_outputs(); ++i) elements = std::max(elements, c.output_elements(i));
  cost.flops = elements * DefinitionOf(c.node()).flops_per_element_;
  return cost;
}

Status RegisterOps(std::vector<CustomOp> ops) {
  std::vector<std::shared_ptr<const OpDef>> definitions;
  std::vector<std::vector<KernelDef>> kernels;
  for (CustomOp& op : ops) {
    const std::string context = StrCat("custom op '", CustomOps::name(op), "'");
    const auto definition = CustomOps::Definition(std::move(op));
    if (!definition.ok()) return Annotate(definition.status(), context);
    auto made = CustomOps::Kernels(**definition);
    if (!made.ok()) return Annotate(made.status(), context);
    definitions.push_back(*definition);
    kernels.push_back(*std::move(made));
  }
  static Mutex mu;
  MutexLock lock(mu);
  for (size_t i = 0; i < definitions.size(); ++i) {
    const std::string& name = definitions[i]->name;
    const auto same_name = [&](const auto& other) { return other->name == name; };
    if (OpRegistry::Global().Find(name) != nullptr ||
        std::any_of(definitions.begin(), definitions.begin() + static_cast<ptrdiff_t>(i), same_name)) {
      return AlreadyExists("custom op '", name, "': an op of that name exists");
    }
  }
  // First the kernels, so that nobody finds an op that has none yet.
  for (size_t i = 0; i < definitions.size(); ++i) AddedKernels::Add(definitions[i]->name, std::move(kernels[i]));
  AddedOps::Add(std::move(definitions));
  return OkStatus();
}

Status RegisterOp(CustomOp op) {
  std::vector<CustomOp> ops;
  ops.push_back(std::move(op));
  return RegisterOps(std::move(ops));
}

const Node& OpShapeContext::node() const { return context_.node(); }
const std::string& OpShapeContext::node_name() const { return node().name(); }
int OpShapeContext::num_inputs() const { return context_.num_inputs(); }
int OpShapeContext::num_outputs() const { return context_.num_outputs(); }
void OpShapeContext::CheckInput(int i) const {
  if (i < 0 || i >= num_inputs()) throw std::logic_error(StrCat("the node has no input ", i));
}
const Shape& OpShapeContext::input(int i) const {
  CheckInput(i);
  return context_.input(i);
}
DType OpShapeContext::input_dtype(int i) const {
  CheckInput(i);
  return context_.input_dtype(i);
}
Tensor OpShapeContext::input_value(int i) const {
  CheckInput(i);
  return context_.input_value(i);
}
StatusOr<Shape> OpShapeContext::input_as_shape(int i) const {
  CheckInput(i);
  return context_.input_as_shape(i);
}
StatusOr<Shape> OpShapeContext::WithRank(int input, int rank) const {
  CheckInput(input);
  return context_.WithRank(input, rank);
}
StatusOr<Shape> OpShapeContext::WithRankAtLeast(int input, int rank) const {
  CheckInput(input);
  return context_.WithRankAtLeast(input, rank);
}
void OpShapeContext::set_output(int i, Shape shape) {
  if (i < 0 || i >= num_outputs()) throw std::logic_error(StrCat("the node has no output ", i));
  context_.set_output(i, std::move(shape));
}

}  // namespace tensorbraid
