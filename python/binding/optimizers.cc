#include "tensorbraid/optimizers.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "binding/graph.h"
#include "binding/own_rule.h"
#include "binding/python_calls.h"
#include "tensorbraid/train/coordinator.h"
#include "tensorbraid/train/hooks.h"

namespace tensorbraid::python {
namespace {

using OptimizerPtr = std::shared_ptr<Optimizer>;

// A hyperparameter: a number, a tensor or a variable of the graph.
Operand OperandOf(nb::handle value) {
  if (nb::isinstance<PyTensor>(value)) return nb::cast<PyTensor&>(value).output;
  if (nb::isinstance<PyVariable>(value)) return nb::cast<PyVariable&>(value).variable;
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return number;
}

OperationObject ApplyGradients(Optimizer& self, nb::list grads, nb::handle global_step, const std::string& name) {
  if (nb::len(grads) == 0) throw nb::value_error("no gradients were given");
  Graph* const graph = nb::cast<PyVariable&>(grads[0][1]).variable.graph();
  const ScopeGuard at = AtUserLine(*graph);
  ApplyGradientsOptions options = {.name = name};
  if (!global_step.is_none()) options.global_step = nb::cast<PyVariable&>(global_step).variable;
  const std::vector<GradAndVar> list = GradsAndVarsOf(grads);
  // A method of Python that replaces apply_gradients has called this one.
  auto* const methods = dynamic_cast<PythonMethods*>(&self);
  const Operation train =
      methods == nullptr ? self.ApplyGradients(list, options) : methods->LibraryApplyGradients(list, options);
  CheckBuilt(*graph);
  return Wrap(train);
}

// The library's optimizer of an object of Python, whose class replaces the methods with the names in `replaced`.
template <typename Rule, typename... Args>
OptimizerPtr Made(const nb::tuple& owner, Args&&... args) {
  const nb::handle self = owner[0], replaced = owner[1];
  return std::make_shared<OwnRule<Rule>>(self, replaced, std::forward<Args>(args)...);
}

// Each function makes a rule for `owner`, a tuple of an object of Python and the methods that its class replaces.
void BindRules(Module& m) {
  m.def("no_rule", [](const nb::tuple& owner, std::string name) { return Made<NoRule>(owner, std::move(name)); });
  m.def("gradient_descent",
        [](const nb::tuple& owner, nb::handle rate, bool use_locking, std::string name) -> OptimizerPtr {
          return Made<GradientDescentOptimizer>(
              owner, OperandOf(rate), GradientDescentOptions{.name = std::move(name), .use_locking = use_locking});
        });
  m.def("momentum",
        [](const nb::tuple& owner, nb::handle rate, nb::handle momentum, bool nesterov, bool use_locking,
           std::string name) -> OptimizerPtr {
          return Made<MomentumOptimizer>(
              owner, OperandOf(rate), OperandOf(momentum),
              MomentumOptions{.name = std::move(name), .use_locking = use_locking, .use_nesterov = nesterov});
        });
  m.def("adadelta",
        [](const nb::tuple& owner, nb::handle rate, double rho, double epsilon, bool use_locking,
           std::string name) -> OptimizerPtr {
          return Made<AdadeltaOptimizer>(
              owner, OperandOf(rate),
              AdadeltaOptions{.rho = rho, .epsilon = epsilon, .name = std::move(name), .use_locking = use_locking});
        });
  m.def(
      "adagrad",
      [](const nb::tuple& owner, nb::handle rate, double initial, bool use_locking, std::string name) -> OptimizerPtr {
        return Made<AdagradOptimizer>(
            owner, OperandOf(rate),
            AdagradOptions{.initial_accumulator_value = initial, .name = std::move(name), .use_locking = use_locking});
      });
  m.def("adam",
        [](const nb::tuple& owner, nb::handle rate, double beta1, double beta2, double epsilon, bool use_locking,
           std::string name) -> OptimizerPtr {
          return Made<AdamOptimizer>(owner, OperandOf(rate),
                                     AdamOptions{.beta1 = beta1,
                                                 .beta2 = beta2,
                                                 .epsilon = epsilon,
                                                 .name = std::move(name),
                                                 .use_locking = use_locking});
        });
  m.def("adam_w",
        [](const nb::tuple& owner, nb::handle decay, nb::handle rate, double beta1, double beta2, double epsilon,
           bool use_locking, std::string name) -> OptimizerPtr {
          return Made<AdamWOptimizer>(owner, OperandOf(decay), OperandOf(rate),
                                      AdamOptions{.beta1 = beta1,
                                                  .beta2 = beta2,
                                                  .epsilon = epsilon,
                                                  .name = std::move(name),
                                                  .use_locking = use_locking});
        });
  m.def("adam_async",
        [](const nb::tuple& owner, nb::handle rate, double beta1, double beta2, double epsilon, bool by_rms_prop,
           bool use_locking, std::string name) -> OptimizerPtr {
          return Made<AdamAsyncOptimizer>(owner, OperandOf(rate),
                                          AdamAsyncOptions{.beta1 = beta1,
                                                           .beta2 = beta2,
                                                           .epsilon = epsilon,
                                                           .apply_sparse_rmsprop = by_rms_prop,
                                                           .name = std::move(name),
                                                           .use_locking = use_locking});
        });
  m.def("adagrad_decay",
        [](const nb::tuple& owner, nb::handle rate, const PyVariable& global_step, double initial, int64_t steps,
           double decay, bool use_locking, std::string name) -> OptimizerPtr {
          return Made<AdagradDecayOptimizer>(owner, OperandOf(rate), global_step.variable,
                                             AdagradDecayOptions{.initial_accumulator_value = initial,
                                                                 .accumulator_decay_step = steps,
                                                                 .accumulator_decay_rate = decay,
                                                                 .name = std::move(name),
                                                                 .use_locking = use_locking});
        });
  m.def(
      "rowwise_adagrad",
      [](const nb::tuple& owner, nb::handle rate, double initial, bool use_locking, std::string name) -> OptimizerPtr {
        return Made<RowwiseAdagradOptimizer>(
            owner, OperandOf(rate),
            RowwiseAdagradOptions{
                .initial_accumulator_value = initial, .name = std::move(name), .use_locking = use_locking});
      });
  m.def("rms_prop",
        [](const nb::tuple& owner, nb::handle rate, double decay, double momentum, double epsilon, bool centered,
           bool use_locking, std::string name) -> OptimizerPtr {
          return Made<RMSPropOptimizer>(owner, OperandOf(rate),
                                        RMSPropOptions{.decay = decay,
                                                       .momentum = momentum,
                                                       .epsilon = epsilon,
                                                       .centered = centered,
                                                       .name = std::move(name),
                                                       .use_locking = use_locking});
        });
  m.def("ftrl",
        [](const nb::tuple& owner, nb::handle rate, double power, double initial, double l1, double l2,
           double shrinkage, bool use_locking, std::string name) -> OptimizerPtr {
          return Made<FtrlOptimizer>(owner, OperandOf(rate),
                                     FtrlOptions{.learning_rate_power = power,
                                                 .initial_accumulator_value = initial,
                                                 .l1_regularization_strength = l1,
                                                 .l2_regularization_strength = l2,
                                                 .l2_shrinkage_regularization_strength = shrinkage,
                                                 .name = std::move(name),
                                                 .use_locking = use_locking});
        });
  m.def("adagrad_da",
        [](const nb::tuple& owner, nb::handle rate, const PyVariable& global_step, double initial, double l1, double l2,
           bool use_locking, std::string name) -> OptimizerPtr {
          return Made<AdagradDAOptimizer>(owner, OperandOf(rate), global_step.variable,
                                          AdagradDAOptions{.initial_gradient_squared_accumulator_value = initial,
                                                           .l1_regularization_strength = l1,
                                                           .l2_regularization_strength = l2,
                                                           .name = std::move(name),
                                                           .use_locking = use_locking});
        });
  m.def("proximal_gradient_descent",
        [](const nb::tuple& owner, nb::handle rate, double l1, double l2, bool use_locking,
           std::string name) -> OptimizerPtr {
          return Made<ProximalGradientDescentOptimizer>(owner, OperandOf(rate),
                                                        ProximalGradientDescentOptions{.l1_regularization_strength = l1,
                                                                                       .l2_regularization_strength = l2,
                                                                                       .name = std::move(name),
                                                                                       .use_locking = use_locking});
        });
  m.def("proximal_adagrad",
        [](const nb::tuple& owner, nb::handle rate, double initial, double l1, double l2, bool use_locking,
           std::string name) -> OptimizerPtr {
          return Made<ProximalAdagradOptimizer>(owner, OperandOf(rate),
                                                ProximalAdagradOptions{.initial_accumulator_value = initial,
                                                                       .l1_regularization_strength = l1,
                                                                       .l2_regularization_strength = l2,
                                                                       .name = std::move(name),
                                                                       .use_locking = use_locking});
        });
}

void BindMovingAverage(Module& m) {
  Class<ExponentialMovingAverage>(m, "ExponentialMovingAverage")
      .def(
          "__init__",
          [](ExponentialMovingAverage* self, nb::handle decay, nb::handle num_updates, bool zero_debias,
             std::string name) {
            MovingAverageOptions options = {.zero_debias = zero_debias, .name = std::move(name)};
            if (!num_updates.is_none()) options.num_updates = OperandOf(num_updates);
            new (self) ExponentialMovingAverage(OperandOf(decay), std::move(options));
          },
          nb::arg("decay"), nb::arg("num_updates").none(), nb::arg("zero_debias"), nb::arg("name"))
      .def("_apply_to_variables",
           [](ExponentialMovingAverage& self, nb::list list) {
             std::vector<Variable> variables;
             for (const nb::handle v : list) variables.push_back(nb::cast<PyVariable&>(v).variable);
             Graph& graph = *variables.at(0).graph();
             const ScopeGuard at = AtUserLine(graph);
             const Operation made = self.Apply(variables);
             CheckBuilt(graph);
             return Wrap(made);
           })
      .def("_apply_to_tensors",
           [](ExponentialMovingAverage& self, nb::list list) {
             std::vector<Output> tensors;
             for (const nb::handle t : list) tensors.push_back(nb::cast<PyTensor&>(t).output);
             Graph& graph = *tensors.at(0).graph();
             const ScopeGuard at = AtUserLine(graph);
             const Operation made = self.Apply(tensors);
             CheckBuilt(graph);
             return Wrap(made);
           })
      .def("average",
           [](const ExponentialMovingAverage& self, const PyVariable& v) { return Wrap(self.Average(v.variable)); })
      .def("average",
           [](const ExponentialMovingAverage& self, const PyTensor& t) { return Wrap(self.Average(t.output)); });
}

void BindSyncReplicas(Module& m) {
  using Sync = SyncReplicasOptimizer;
  Class<Sync, Optimizer>(m, "SyncReplicasOptimizer")
      .def_static(
          "_make",
          [](OptimizerPtr optimizer, int replicas_to_aggregate, int total_num_replicas, bool use_locking,
             std::string name, bool sum_per_host, const ClusterSpec& cluster, std::string worker_device,
             nb::object after_update) {
            SyncReplicasOptions options{.replicas_to_aggregate = replicas_to_aggregate,
                                        .total_num_replicas = total_num_replicas,
                                        .use_locking = use_locking,
                                        .name = std::move(name),
                                        .sum_per_host = sum_per_host,
                                        .cluster = cluster,
                                        .worker_device = std::move(worker_device)};
            if (!after_update.is_none()) {
              options.after_update = [call = Shared(std::move(after_update))] { return OperationOf((*call)()); };
            }
            return std::make_shared<Sync>(std::move(optimizer), std::move(options));
          },
          nb::arg("optimizer"), nb::arg("replicas_to_aggregate"), nb::arg("total_num_replicas"), nb::arg("use_locking"),
          nb::arg("name"), nb::arg("sum_per_host"), nb::arg("cluster"), nb::arg("worker_device"),
          nb::arg("after_update").none())
      .def("make_session_run_hook", &Sync::MakeSessionRunHook)
      .def("init_tokens_op",
           [](const Sync& self, int num_tokens) {
             Graph& graph = *self.chief_init_op().graph();
             const Operation op = self.init_tokens_op(num_tokens);
             CheckValues(graph);
             return Wrap(op);
           })
      .def_prop_ro("chief_init_op", [](const Sync& self) { return Wrap(self.chief_init_op()); })
      .def_prop_ro("local_step_init_op", [](const Sync& self) { return Wrap(self.local_step_init_op()); })
      .def_prop_ro("ready_for_local_init_op", [](const Sync& self) { return Wrap(self.ready_for_local_init()); })
      .def_prop_ro("chief_queue_runner", [](const Sync& self) { return self.chief_queue_runner(); })
      .def_prop_ro("dropped_gradients", [](const Sync& self) { return self.dropped_gradients(); });
}

void BindAsyncReplicas(Module& m) {
  using Async = AsyncReplicasOptimizer;
  Class<Async, Optimizer>(m, "AsyncReplicasOptimizer")
      .def_static("_make",
                  [](OptimizerPtr optimizer, const std::string& staleness, int replica, std::string name,
                     bool sum_per_host, const ClusterSpec& cluster, std::string worker_device) {
                    return std::make_shared<Async>(
                        std::move(optimizer),
                        AsyncReplicasOptions{.staleness = Check(StalenessPolicy::Parse(staleness)),
                                             .replica = replica,
                                             .name = std::move(name),
                                             .sum_per_host = sum_per_host,
                                             .cluster = cluster,
                                             .worker_device = std::move(worker_device)});
                  })
      .def("make_session_run_hook", [](Async& self) { return self.MakeSessionRunHook(); })
      .def_prop_ro("outcomes", [](const Async& self) { return Wrap(self.outcomes()); });
}

}  // namespace

void BindOptimizers(Module& m) {
  Class<Optimizer> optimizers(m, "Optimizer");
  optimizers.def("_apply_gradients", &ApplyGradients, nb::arg("grads"), nb::arg("global_step").none(), nb::arg("name"))
      .def("get_slot_names", [](const Optimizer& self) { return self.GetSlotNames(); })
      .def("get_slot", [](const Optimizer& self, const PyVariable& variable, const std::string& slot) {
        return Wrap(self.GetSlot(variable.variable, slot));
      });
  optimizers.def("_set_decay_variables", [](Optimizer& self, nb::list variables) {
    dynamic_cast<AdamWOptimizer&>(self).set_decay_variables(VariablesOf(variables));
  });
  BindOwnRule(optimizers);
  BindRules(m);
  BindMovingAverage(m);
  BindSyncReplicas(m);
  BindAsyncReplicas(m);
}

}  // namespace tensorbraid::python
