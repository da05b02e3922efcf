// What each device promises (runtime/kernel/device.h), as a test that those of all devices with a memory of their own
// call.
#ifndef TENSORBRAID_RUNTIME_TESTING_DEVICE_CONFORMANCE_H_
#define TENSORBRAID_RUNTIME_TESTING_DEVICE_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <utility>
#include <vector>

#include "core/values/new_tensor.h"
#include "runtime/kernel/device.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Copies and waits until the host may use both tensors.
inline Status CopyAndWait(Device& device, const Tensor& from, const Tensor& to) {
  std::promise<Status> done;
  device.Copy(from, to, [&](const Status& status) { done.set_value(status); });
  return done.get_future().get();
}
inline StatusOr<Tensor> CopyToDevice(Device& device, const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(Tensor copy, NewTensor(tensor.dtype(), tensor.shape(), device.allocator()));
  TF_RETURN_IF_ERROR(CopyAndWait(device, tensor, copy));
  return copy;
}
inline StatusOr<Tensor> CopyToHost(Device& device, const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(Tensor copy, Tensor::Create(tensor.dtype(), tensor.shape()));
  TF_RETURN_IF_ERROR(CopyAndWait(device, tensor, copy));
  return copy;
}

inline bool SameBytes(const StatusOr<Tensor>& tensor, const Tensor& expected) {
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() && tensor->dtype() == expected.dtype() && tensor->shape() == expected.shape() &&
         std::memcmp(tensor->raw_data(), expected.raw_data(), expected.num_bytes()) == 0;
}

// Tests a device that has a memory of its own, and stops it.
inline void TestConformance(Device& device) {
  ASSERT_FALSE(device.uses_host_memory());
  const Tensor numbers = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});

  const auto on_device = CopyToDevice(device, numbers);
  ASSERT_TRUE(on_device.ok()) << on_device.status();
  EXPECT_EQ(on_device->buffer()->space(), MemorySpace::kDevice);
  EXPECT_EQ(on_device->buffer()->allocator(), &device.allocator());
  EXPECT_EQ(on_device->ToString(), "float32[2,3] <in device memory>");
  EXPECT_GE(device.allocator().stats().bytes_in_use, 24);
  EXPECT_TRUE(SameBytes(CopyToHost(device, *on_device), numbers));

  for (const Tensor& tensor :
       {Tensor::Scalar(true), Tensor::Scalar(int64_t{-7}), Tensor(kFloat64, {0, 3}), Tensor::Of<int8_t>({3}, {1, 2, 3}),
        Tensor::Scalar(std::complex<double>(1, 2)), Tensor::Scalar(Bfloat16(0.5f))}) {
    EXPECT_TRUE(SameBytes(CopyToHost(device, CopyToDevice(device, tensor).value()), tensor)) << tensor.ToString();
  }

  // The host may overwrite a tensor that has been copied.
  Tensor changing = numbers.DeepCopy();
  const Tensor copy = CopyToDevice(device, changing).value();
  changing.inplace_data<float>()[0] = 100;
  EXPECT_TRUE(SameBytes(CopyToHost(device, copy), numbers));

  // A copy within the device needs its source no longer than until it is enqueued.
  Tensor second = NewTensor(kFloat32, {2, 3}, device.allocator()).value();
  {
    const Tensor first = CopyToDevice(device, numbers).value();
    device.CopyInStream(first, second);
  }
  EXPECT_TRUE(SameBytes(CopyToHost(device, second), numbers));

  // Another shape of the same elements.
  EXPECT_TRUE(SameBytes(CopyToHost(device, second.Reshaped({6}).value()), numbers.Reshaped({6}).value()));

  // Many copies at a time.
  std::vector<std::future<Status>> copied;
  std::vector<Tensor> to;
  for (int i = 0; i < 50; ++i) {
    to.push_back(NewTensor(kInt32, {}, device.allocator()).value());
    auto done = std::make_shared<std::promise<Status>>();
    copied.push_back(done->get_future());
    device.Copy(Tensor::Scalar(i), to.back(), [done](const Status& status) { done->set_value(status); });
  }
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(copied[i].get().ok());
    EXPECT_TRUE(SameBytes(CopyToHost(device, to[i]), Tensor::Scalar(i)));
  }

  std::promise<Status> idle;
  device.WhenIdle([&](const Status& status) { idle.set_value(status); });
  EXPECT_TRUE(idle.get_future().get().ok());

  device.Stop();
  EXPECT_TRUE(SameBytes(CopyToHost(device, CopyToDevice(device, numbers).value()), numbers));
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TESTING_DEVICE_CONFORMANCE_H_
