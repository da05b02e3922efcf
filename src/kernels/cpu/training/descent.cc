// Kernels of the update rules in descent_rules.h.
#include "kernels/cpu/training/descent_rules.h"
#include "kernels/cpu/training/training_kernel.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
void RegisterTrainingDescentKernels(KernelRegistry& r) {
  using namespace update_rules;  // NOLINT: the rules of this file
  ForEachNumberType([&]<typename T>() { AddRule<GradientDescent, T>(r, "ApplyGradientDescent"); });
  AddRule<Momentum, float, double, Float16, Bfloat16, std::complex<float>, std::complex<double>>(r, "ApplyMomentum");
  AddRule<KerasMomentum, float, double, Float16, Bfloat16, std::complex<float>, std::complex<double>>(
      r, "ApplyKerasMomentum");
  AddRule<AddSign, float, double, Float16, Bfloat16>(r, "ApplyAddSign");
  AddRule<PowerSign, float, double, Float16, Bfloat16>(r, "ApplyPowerSign");
}

}  // namespace tensorbraid::cpu
