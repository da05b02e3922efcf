#include "executor/clusters/known_tensors.h"

#include <algorithm>
#include <utility>

#include "core/values/new_tensor.h"
#include "pjrt/client.h"
#include "pjrt/device_buffer.h"

namespace tensorbraid {

StatusOr<Tensor> ToDevice(const Tensor& tensor, pjrt::PjrtDevice& device, std::function<void(const Status&)> done) {
  TF_ASSIGN_OR_RETURN(pjrt::Client* const client, device.client());
  TF_ASSIGN_OR_RETURN(Tensor on_device, NewTensor(tensor.dtype(), tensor.shape(), device.allocator()));
  pjrt::Event copied;
  TF_ASSIGN_OR_RETURN(RefPtr<pjrt::Array> array, client->ToDevice(tensor, device.index(), &copied));
  TF_ASSIGN_OR_RETURN(pjrt::DeviceBuffer* const buffer, pjrt::DeviceBuffer::Of(on_device));
  buffer->Set(std::move(array));
  copied.OnReady([tensor, done = std::move(done)](const Status& status) { done(status); });
  return on_device;
}

StatusOr<std::shared_ptr<const KnownTensors>> KnownTensorsOfCluster::Of(
    const std::shared_ptr<const Executable>& executable) {
  const pjrt::ProgramText& text = executable->text;
  const bool has_known_results = std::ranges::any_of(text.results, [](const auto& r) { return r.constant != nullptr; });
  if (text.constants.empty() && !has_known_results) return nullptr;
  MutexLock lock(mu_);
  std::shared_ptr<KnownTensors>& known = known_[executable];
  if (known != nullptr && !known->copy_failed) return known;
  auto made = std::make_shared<KnownTensors>();
  const auto copy = [&](const Tensor& tensor) {
    return ToDevice(tensor, device_, [made](const Status& copied) {
      if (!copied.ok()) made->copy_failed = true;
    });
  };
  for (const auto& constant : text.constants) {
    Tensor on_device = FindConstant(*constant);
    if (!on_device.is_valid()) {
      TF_ASSIGN_OR_RETURN(on_device, copy(*constant));
    }
    made->constants.push_back(std::move(on_device));
  }
  for (const auto& result : text.results) {
    Tensor& on_device = made->results.emplace_back();
    if (result.constant == nullptr) continue;
    TF_ASSIGN_OR_RETURN(on_device, copy(*result.constant));
  }
  return known = std::move(made);
}

Tensor KnownTensorsOfCluster::FindConstant(const Tensor& constant) const {
  for (const auto& [executable, known] : known_) {
    if (known == nullptr || known->copy_failed) continue;
    for (size_t i = 0; i < known->constants.size(); ++i) {
      const Tensor& other = *executable->text.constants[i];
      const bool is_same_type = other.dtype() == constant.dtype() && other.shape() == constant.shape();
      if (is_same_type && other.raw_data() == constant.raw_data()) return known->constants[i];
    }
  }
  return Tensor();
}

void KnownTensorsOfCluster::Clear() {
  MutexLock lock(mu_);
  known_.clear();
}

}  // namespace tensorbraid
