// Kernels of the update rules in adaptive_rules.h.
#include "kernels/cpu/training/adaptive_rules.h"
#include "kernels/cpu/training/training_kernel.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

template <template <typename> class Rule>
void AddWithComplex(KernelRegistry& r, const std::string& name) {
  AddRule<Rule, float, double, Float16, Bfloat16, std::complex<float>, std::complex<double>>(r, name);
}

}  // namespace

void RegisterTrainingAdaptiveKernels(KernelRegistry& r) {
  using namespace update_rules;  // NOLINT: the rules of this file
  AddWithComplex<Adadelta>(r, "ApplyAdadelta");
  AddWithComplex<Adagrad>(r, "ApplyAdagrad");
  AddWithComplex<AdagradV2>(r, "ApplyAdagradV2");
  AddRule<RowwiseAdagrad, float, double, Float16, Bfloat16>(r, "_ApplyRowwiseAdagrad");
  AddRule<AdagradDecay, float, double, Float16, Bfloat16>(r, "ApplyAdagradDecay");
  AddWithComplex<Adam>(r, "ApplyAdam");
  AddRule<AdamAsync, float, double, Float16, Bfloat16>(r, "ApplyAdamAsync");
  AddRule<AdamWithAmsgrad, float, double, Float16, Bfloat16>(r, "ApplyAdamWithAmsgrad");
  AddRule<AdaMax, float, double, Float16, Bfloat16>(r, "ApplyAdaMax");
  AddWithComplex<RmsProp>(r, "ApplyRMSProp");
  AddWithComplex<CenteredRmsProp>(r, "ApplyCenteredRMSProp");
}

}  // namespace tensorbraid::cpu
