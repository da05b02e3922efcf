// Splits, joins and adds tensors in the memory of a device, by programs.
#ifndef TENSORBRAID_PJRT_DEVICE_ELEMENTS_H_
#define TENSORBRAID_PJRT_DEVICE_ELEMENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/threads/mutex.h"
#include "pjrt/program.h"
#include "pjrt/stablehlo.h"
#include "runtime/kernel/element_memory.h"

namespace tensorbraid::pjrt {

class PjrtDevice;

// Each combination of shapes is a program, which is compiled when it is first needed. There are kMostPrograms at most:
// tensors of further shapes take the way through the host, but for sums, whose programs are not kept then. Zeros are
// copied from the host. See ElementMemory.
class DeviceElements final : public ElementMemory {
 public:
  static constexpr size_t kMostPrograms = 64;
  // `device` outlives the object.
  explicit DeviceElements(PjrtDevice& device) : device_(device) {}

  StatusOr<Tensor> Zeros(DType dtype, const Shape& shape) override;
  StatusOr<std::vector<Tensor>> Split(const Tensor& from, std::span<const Shape> shapes) override;
  StatusOr<Tensor> Join(std::span<const Tensor> parts, const Shape& shape) override;
  StatusOr<Tensor> Add(const Tensor& a, const Tensor& b) override;

 private:
  // What happens if there are kMostPrograms already.
  enum class IfFull : uint8_t { kNone, kMakeAndDrop };
  // The program that returns `results` of a builder that has these parameters. Null if there are too many, and
  // `if_full` is kNone.
  StatusOr<std::shared_ptr<Program>> ProgramFor(const std::string& name, const stablehlo::Builder& builder,
                                                const std::vector<stablehlo::Value>& parameters,
                                                const std::vector<stablehlo::Value>& results,
                                                IfFull if_full = IfFull::kNone);
  StatusOr<std::vector<Tensor>> Run(const Program& program, std::span<const Tensor> inputs);
  // The elements of the tensors in host memory, one tensor after the other, as a tensor of this shape. Blocks.
  StatusOr<Tensor> OnHost(std::span<const Tensor> tensors, const Shape& shape);
  StatusOr<Tensor> FromHost(const Tensor& tensor);

  PjrtDevice& device_;
  Mutex mu_;
  std::map<std::string, std::shared_ptr<Program>> programs_ TB_GUARDED_BY(mu_);  // keyed by text
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_DEVICE_ELEMENTS_H_
