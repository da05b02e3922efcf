// Optimizers of which a class of Python replaces methods.
#ifndef TENSORBRAID_PYTHON_BINDING_OWN_RULE_H_
#define TENSORBRAID_PYTHON_BINDING_OWN_RULE_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "binding/graph.h"
#include "tensorbraid/optimizers.h"

namespace tensorbraid::python {

// The gradient of Python's value: None, a value for a tensor of this dtype, or a tuple of the tensors of slices.
Gradient GradientOf(Graph& graph, nb::handle value, DType dtype);
// The list of pairs of Python, of a gradient for GradientOf and a variable, and the other way round.
std::vector<GradAndVar> GradsAndVarsOf(nb::handle pairs);
nb::list PairsOf(const std::vector<GradAndVar>& grads);

// Calls the methods of an optimizer of Python. The object of Python owns this one, so it is known by a weak reference.
class PythonMethods {
 public:
  // `replaced` has the names of the methods that the class of the object replaces.
  PythonMethods(nb::handle self, nb::handle replaced) : self_(nb::weakref(self)) {
    for (const nb::handle name : replaced) replaced_.insert(nb::cast<std::string>(name));
  }
  virtual ~PythonMethods() = default;

  // What the library's class does, for methods of Python that call the method of their base class.
  virtual Operation LibraryApplyGradients(const std::vector<GradAndVar>& grads,
                                          const ApplyGradientsOptions& options) = 0;
  virtual void LibraryCreateSlots(const Variable& variable) = 0;
  virtual void LibraryPrepare(Graph& graph) = 0;
  virtual Operation LibraryApply(const Gradient& grad, const Variable& variable) = 0;
  virtual std::vector<Operation> LibraryFinish() = 0;
  virtual Variable Shared(const std::string& name) = 0;  // that the library's class has made by MakeShared
  // Optimizer::MakeSlot, for a shape of Python and the number of a dtype.
  virtual Variable Slot(const Variable& variable, const std::string& slot, const Initializer& initializer,
                        const std::string& name, const Shape& shape, DType dtype) = 0;

 protected:
  bool Replaces(const char* method) const { return replaced_.contains(method); }
  // Whether the variable has a constraint, a function of Python that is applied to it after each update.
  static bool IsConstrained(const Variable& variable);
  template <typename... Args>
  nb::object Call(const char* method, Args&&... args) const {
    const nb::object self = self_();
    if (self.is_none()) throw nb::value_error("the optimizer of Python exists no longer");
    return self.attr(method)(std::forward<Args>(args)...);
  }
  // These call the methods for functions of Optimizer. They throw the errors that the methods raise.
  std::vector<GradAndVar> ComputeInPython(const Output& loss, const std::vector<Variable>& variables) const;
  Operation ApplyGradientsInPython(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options) const;
  void CreateSlotsInPython(const std::vector<Variable>& variables) const;
  Operation ApplyInPython(const Gradient& grad, const Variable& variable) const;
  std::vector<Operation> FinishInPython(const std::vector<Operation>& updates) const;

 private:
  const nb::weakref self_;
  std::set<std::string> replaced_;
};

// An optimizer without a rule of the library.
class NoRule : public Optimizer {
 public:
  using Optimizer::Optimizer;

 protected:
  Operation Apply(const Gradient& grad, const Variable& variable) override;
};

// The optimizer Rule of the library, where a class of Python may replace each of its functions.
template <typename Rule>
class OwnRule final : public Rule, public PythonMethods {
 public:
  template <typename... Args>
  OwnRule(nb::handle self, nb::handle replaced, Args&&... args)
      : Rule(std::forward<Args>(args)...), PythonMethods(self, replaced) {}

  StatusOr<std::vector<GradAndVar>> ComputeGradients(const Output& loss, const std::vector<Variable>& variables,
                                                     std::source_location loc) override {
    if (Replaces("compute_gradients")) return ComputeInPython(loss, variables);
    return Rule::ComputeGradients(loss, variables, loc);
  }
  Operation ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options,
                           std::source_location loc) override {
    if (Replaces("apply_gradients")) return ApplyGradientsInPython(grads, options);
    updates_.clear();
    return Rule::ApplyGradients(grads, options, loc);
  }

  Operation LibraryApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options) override {
    updates_.clear();
    return Rule::ApplyGradients(grads, options);
  }
  void LibraryCreateSlots(const Variable& variable) override { Rule::CreateSlots(variable); }
  void LibraryPrepare(Graph& graph) override { Rule::Prepare(graph); }
  Operation LibraryApply(const Gradient& grad, const Variable& variable) override {
    Rule::EnterGraph(variable);
    return Rule::Apply(Rule::NeedsDistinctRows() ? grad.WithDistinctRows() : grad, variable);
  }
  std::vector<Operation> LibraryFinish() override { return Rule::Finish(); }
  Variable Shared(const std::string& name) override { return Rule::GetShared(name); }
  Variable Slot(const Variable& variable, const std::string& slot, const Initializer& initializer,
                const std::string& name, const Shape& shape, DType dtype) override {
    return Rule::MakeSlot(variable, slot, initializer, {.name = name, .shape = shape, .dtype = dtype});
  }

 protected:
  void CreateAllSlots(const std::vector<Variable>& variables) override {
    if (Replaces("_create_slots")) return CreateSlotsInPython(variables);
    Rule::CreateAllSlots(variables);
  }
  void Prepare(Graph& graph) override {
    if (!Replaces("_prepare")) return Rule::Prepare(graph);
    Call("_prepare");
  }
  Operation Apply(const Gradient& grad, const Variable& variable) override {
    const bool own = Replaces(grad.is_sparse() ? "sparse rule" : "dense rule") || IsConstrained(variable);
    updates_.push_back(own ? ApplyInPython(grad, variable) : Rule::Apply(grad, variable));
    return updates_.back();
  }
  // A rule of Python for rows decides itself whether it sums those that occur several times.
  bool NeedsDistinctRows() const override { return !Replaces("sparse rule") && Rule::NeedsDistinctRows(); }
  // A rule of Python for rows says itself whether it updates growing tables.
  bool UpdatesTables() const override {
    return Replaces("sparse rule") ? Replaces("rule of tables") : Rule::UpdatesTables();
  }
  std::vector<Operation> Finish() override { return Replaces("_finish") ? FinishInPython(updates_) : Rule::Finish(); }

 private:
  std::vector<Operation> updates_;  // of the present call of ApplyGradients
};

// Adds to the class of optimizers what the methods of tf.train.Optimizer call.
void BindOwnRule(Class<Optimizer>& optimizers);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_OWN_RULE_H_
