// A second kind of device, "FAKE", for tests. It reveals code that works with the CPU only:
//
//  - Its memory is host memory under another address. An access through a device pointer faults.
//  - Its kernels return when their work is enqueued. A thread of the device does the work later, in order.
//  - Freed memory is overwritten before it is used again.
//
// The work itself is done by the CPU's kernels, so values equal those of the CPU bit for bit.
#ifndef TENSORBRAID_RUNTIME_TESTING_FAKE_DEVICE_H_
#define TENSORBRAID_RUNTIME_TESTING_FAKE_DEVICE_H_

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "core/threads/thread_pool.h"
#include "runtime/kernel/device.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// No pointer of a process has this bit set.
inline constexpr uintptr_t kFakeOffset = uintptr_t{1} << 62;
inline void* DeviceAddress(void* host) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host) + kFakeOffset);
}
// The host's address of a byte in host memory or in the memory of a FAKE device. For the device's own thread.
inline char* HostAddress(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return reinterpret_cast<char*>(address >= kFakeOffset ? address - kFakeOffset : address);
}

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(int id) : Device("FAKE", id), memory_(std::make_shared<Memory>(StrCat("fake:", id))) {
    stream_ = std::make_unique<ThreadPool>("fake", 1);
    MutexLock lock(memory_->mu);
    memory_->stream = stream_.get();
  }
  ~FakeDevice() override { Stop(); }

  int64_t memory_limit() const override { return int64_t{1} << 30; }
  Allocator& allocator() override { return *memory_; }
  bool has_stream() const override { return true; }
  void Copy(const Tensor& from, Tensor to, Done done) override {
    Enqueue([from, to, done = std::move(done)] {
      if (from.num_bytes() > 0) std::memcpy(HostAddress(to.raw_data()), HostAddress(from.raw_data()), from.num_bytes());
      done(OkStatus());
    });
  }
  void CopyInStream(const Tensor& from, Tensor to) override {
    Enqueue([from = from.raw_data(), to = to.raw_data(), n = from.num_bytes()] {
      if (n > 0) std::memcpy(HostAddress(to), HostAddress(from), n);
    });
  }
  void WhenIdle(Done done) override {
    Enqueue([this, done = std::move(done)] {
      Status error;
      {
        MutexLock lock(mu_);
        std::swap(error, error_);
      }
      done(error);
    });
  }

  void Stop() override {
    WriterLock stopping(stream_mu_);
    if (stream_ == nullptr) return;
    std::promise<void> idle;
    stream_->Schedule([&idle] { idle.set_value(); });
    idle.get_future().wait();
    {
      MutexLock lock(memory_->mu);
      memory_->stream = nullptr;  // buffers are freed at once from now on
    }
    stream_.reset();
  }

  // Does `work` on the device's thread, after all work that was enqueued before. `work` must not call Enqueue.
  void Enqueue(std::function<void()> work) {
    {
      ReaderLock lock(stream_mu_);
      if (stream_ != nullptr) return stream_->Schedule(std::move(work));
    }
    work();
  }
  // Records an error of enqueued work.
  void Fail(const Status& status) {
    MutexLock lock(mu_);
    if (error_.ok()) error_ = status;
  }
  // The environment of the CPU's kernels on the device's thread.
  const StepEnvironment& env() const { return env_; }

 private:
  // The device's memory. Buffers share it, so it may outlive the device.
  class Memory final : public Allocator, public std::enable_shared_from_this<Memory> {
   public:
    explicit Memory(std::string name) : name_(std::move(name)) {}
    ~Memory() override {
      for (auto& [size, block] : free_) std::free(block);
    }
    std::string_view name() const override { return name_; }
    MemorySpace space() const override { return MemorySpace::kDevice; }
    RefPtr<Buffer> Allocate(size_t size) override {
      const size_t rounded = (size / kTensorAlignment + 1) * kTensorAlignment;
      void* block = nullptr;
      {
        MutexLock lock(mu);
        if (const auto it = free_.find(rounded); it != free_.end()) {
          block = it->second;
          free_.erase(it);
        }
      }
      if (block == nullptr) block = std::aligned_alloc(kTensorAlignment, rounded);
      if (block == nullptr) return nullptr;
      in_use_ += static_cast<int64_t>(rounded);
      return MakeRef<Block>(block, size, rounded, shared_from_this());
    }
    AllocatorStats stats() const override { return {in_use_.load(), 0}; }

    Mutex mu;
    ThreadPool* stream TB_GUARDED_BY(mu) = nullptr;

   private:
    class Block final : public Buffer {
     public:
      Block(void* block, size_t size, size_t rounded, std::shared_ptr<Memory> memory)
          : Buffer(DeviceAddress(block), size, {.allocator = memory.get(), .space = MemorySpace::kDevice}),
            rounded_(rounded),
            memory_(std::move(memory)) {}
      ~Block() override { memory_->Free(HostAddress(data()), rounded_); }

     private:
      const size_t rounded_;
      const std::shared_ptr<Memory> memory_;
    };
    // Returns the block when the work that was enqueued before has been done.
    void Free(char* block, size_t rounded) {
      in_use_ -= static_cast<int64_t>(rounded);
      const auto add = [self = shared_from_this(), block, rounded] {
        std::memset(block, 0xDD, rounded);
        MutexLock lock(self->mu);
        self->free_.emplace(rounded, block);
      };
      {
        MutexLock lock(mu);
        if (stream != nullptr) return stream->Schedule(add);
      }
      add();
    }

    const std::string name_;
    std::atomic<int64_t> in_use_{0};
    std::multimap<size_t, void*> free_ TB_GUARDED_BY(mu);  // keyed by size
  };

  const std::shared_ptr<Memory> memory_;
  ThreadPool no_threads_{"fake", 0};
  const StepEnvironment env_{.pool = &no_threads_};
  Mutex mu_;
  Status error_ TB_GUARDED_BY(mu_);
  SharedMutex stream_mu_;
  std::unique_ptr<ThreadPool> stream_ TB_GUARDED_BY(stream_mu_);  // null when stopped
};

// The shapes of a kernel's outputs, which must be known when the work is enqueued.
using FakeShapes = StatusOr<std::vector<Shape>> (*)(KernelContext& ctx);

// Enqueues the work of a kernel of the CPU.
class FakeKernel final : public Kernel {
 public:
  FakeKernel(std::unique_ptr<Kernel> cpu, FakeShapes shapes) : cpu_(std::move(cpu)), shapes_(shapes) {}

  Status Compute(KernelContext& ctx) override {
    auto& device = static_cast<FakeDevice&>(ctx.device());
    TF_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, shapes_(ctx));
    std::vector<Operand> inputs, outputs;
    for (int i = 0; i < ctx.num_inputs(); ++i) inputs.emplace_back(ctx.input(i));
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      TF_ASSIGN_OR_RETURN(Tensor * out, ctx.num_inputs() > 0 ? ctx.ForwardOrAllocateOutput({0}, i, shapes[i])
                                                             : ctx.AllocateOutput(i, shapes[i]));
      outputs.emplace_back(*out);
      outputs.back().host = {};
    }
    device.Enqueue([this, &device, &node = ctx.node(), inputs = std::move(inputs), outputs = std::move(outputs)] {
      const Status status = Work(device, node, inputs, outputs);
      if (!status.ok()) device.Fail(status);
    });
    return OkStatus();
  }

 private:
  // An input or output of enqueued work. It does not hold a buffer of the device: if the last tensor is dropped while
  // the work waits, the buffer is still untouched when the work runs.
  struct Operand {
    explicit Operand(const Tensor& t) : address(t.raw_data()), dtype(t.dtype()), shape(t.shape()) {
      if (t.buffer()->space() == MemorySpace::kHost) host = t;
    }
    const void* address;
    DType dtype;
    Shape shape;
    Tensor host;  // keeps host memory alive
  };
  // The bytes of an operand, for the CPU's kernel, which must not reuse them.
  class View final : public Buffer {
   public:
    View(void* data, size_t size) : Buffer(data, size, {.writable = false}) {}
  };

  Status Work(FakeDevice& device, const Node& node, const std::vector<Operand>& inputs,
              const std::vector<Operand>& outputs) const {
    std::vector<Entry> in, out(outputs.size());
    for (const Operand& o : inputs) {
      const size_t bytes = static_cast<size_t>(o.shape.num_elements()) * DTypeSize(o.dtype);
      TF_ASSIGN_OR_RETURN(Tensor view,
                          Tensor::FromBuffer(MakeRef<View>(HostAddress(o.address), bytes), 0, o.dtype, o.shape));
      in.push_back({.value = std::move(view), .ref = nullptr});
    }
    KernelContext ctx(node, in, out, device.env());
    TF_RETURN_IF_ERROR(cpu_->Compute(ctx));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& value = out[i].value;
      if (value.shape() != outputs[i].shape) {
        return Internal(node.Describe(), " has made ", value.shape(), " for output ", i, " of shape ",
                        outputs[i].shape);
      }
      if (value.num_bytes() > 0) std::memcpy(HostAddress(outputs[i].address), value.raw_data(), value.num_bytes());
    }
    return OkStatus();
  }

  const std::unique_ptr<Kernel> cpu_;
  const FakeShapes shapes_;
};

// Adds `sign` times the last input, times alpha if there are three inputs, to a variable: AssignAddVariableOp,
// AssignSubVariableOp and ResourceApplyGradientDescent.
template <typename T, int sign>
Status FakeUpdate(KernelContext& ctx) {
  auto& device = static_cast<FakeDevice&>(ctx.device());
  TF_ASSIGN_OR_RETURN(const auto variable, ctx.LookupResource<VariableResource>(0));
  const Tensor& delta = ctx.input(ctx.num_inputs() - 1);
  const void* const alpha = ctx.num_inputs() == 3 ? ctx.input(1).raw_data() : nullptr;
  return variable->Update([&](const Tensor& old, Tensor* out) -> Status {
    if (old.shape() != delta.shape()) return InvalidArgument("shapes ", old.shape(), " and ", delta.shape());
    device.Enqueue([from = old.raw_data(), to = out->raw_data(), by = delta.raw_data(), alpha, n = old.num_elements()] {
      const T* x = reinterpret_cast<const T*>(HostAddress(from));
      const T* d = reinterpret_cast<const T*>(HostAddress(by));
      T* y = reinterpret_cast<T*>(HostAddress(to));
      const T a = alpha == nullptr ? T(1) : *reinterpret_cast<const T*>(HostAddress(alpha));
      for (int64_t i = 0; i < n; ++i) y[i] = sign > 0 ? x[i] + a * d[i] : x[i] - a * d[i];
    });
    return OkStatus();
  });
}

class FakeConst final : public Kernel {
 public:
  explicit FakeConst(const KernelConstruction& c) : value_(c.attr<Tensor>("value")) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, value_.shape()));
    auto& device = static_cast<FakeDevice&>(ctx.device());
    device.Enqueue([value = value_, to = out->raw_data()] {
      if (value.num_bytes() > 0) std::memcpy(HostAddress(to), value.raw_data(), value.num_bytes());
    });
    return OkStatus();
  }

 private:
  const Tensor value_;
};

namespace fake_shapes {

using Shapes = StatusOr<std::vector<Shape>>;

inline Shapes Unchanged(KernelContext& ctx) { return std::vector<Shape>{ctx.input(0).shape()}; }
inline Shapes Broadcast(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(ctx.input(0).shape(), ctx.input(1).shape()));
  return std::vector<Shape>{std::move(shape)};
}
inline Shapes MatMul(KernelContext& ctx) {
  const Shape &a = ctx.input(0).shape(), &b = ctx.input(1).shape();
  if (a.rank() != 2 || b.rank() != 2) return InvalidArgument("MatMul needs matrices, got ", a, " and ", b);
  return std::vector<Shape>{Shape(
      {a.dim(ctx.node().attr<bool>("transpose_a") ? 1 : 0), b.dim(ctx.node().attr<bool>("transpose_b") ? 0 : 1)})};
}
inline Shapes Channels(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  if (in.rank() < 1) return InvalidArgument("BiasAddGrad needs channels");
  return std::vector<Shape>{Shape({in.dim(in.rank() - 1)})};
}
inline Shapes CrossEntropy(KernelContext& ctx) {
  const Shape& logits = ctx.input(0).shape();
  if (logits.rank() != 2 || ctx.input(1).shape() != logits) {
    return InvalidArgument("logits ", logits, " and labels ", ctx.input(1).shape(), " must be equal matrices");
  }
  return std::vector<Shape>{Shape({logits.dim(0)}), logits};
}
// The elements of `t`, which is int32 or int64 and in host memory.
inline std::vector<int64_t> Integers(const Tensor& t) {
  std::vector<int64_t> values;
  if (t.dtype() == kInt64) values.assign(t.data<int64_t>().begin(), t.data<int64_t>().end());
  if (t.dtype() == kInt32) values.assign(t.data<int32_t>().begin(), t.data<int32_t>().end());
  return values;
}
inline Shapes Reduction(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  std::vector<bool> reduced(in.rank());
  for (int64_t axis : Integers(ctx.input(1))) {
    if (axis < 0) axis += in.rank();
    if (axis < 0 || axis >= in.rank()) return InvalidArgument("axis ", axis, " of shape ", in, " does not exist");
    reduced[axis] = true;
  }
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[d]) out.AddDim(in.dim(d));
    if (reduced[d] && ctx.node().attr<bool>("keep_dims")) out.AddDim(1);
  }
  return std::vector<Shape>{std::move(out)};
}
// The shape is the value of this input.
template <int input>
Shapes AsInput(KernelContext& ctx) {
  Shape out;
  for (int64_t size : Integers(ctx.input(input))) {
    if (size < 0) return InvalidArgument("size ", size, " is negative");
    out.AddDim(size);
  }
  return std::vector<Shape>{std::move(out)};
}

}  // namespace fake_shapes

inline void RegisterFakeKernels(KernelRegistry& r) {
  const auto kernels_of = [&r](const std::string& op) {
    std::vector<KernelDef> defs;
    const auto [begin, end] = r.kernels().equal_range(op);
    for (auto it = begin; it != end; ++it) {
      if (it->second.device_type == "CPU") defs.push_back(it->second);
    }
    return defs;
  };
  // Kernels whose work is enqueued.
  struct Row {
    const char* op;
    FakeShapes shapes;
    std::vector<std::string> host_memory = {};
  };
  for (const Row& row : std::initializer_list<Row>{{"AddV2", fake_shapes::Broadcast},
                                                   {"BiasAdd", fake_shapes::Unchanged},
                                                   {"BiasAddGrad", fake_shapes::Channels},
                                                   {"BroadcastTo", fake_shapes::AsInput<1>, {"shape"}},
                                                   {"Cast", fake_shapes::Unchanged},
                                                   {"Fill", fake_shapes::AsInput<0>, {"dims"}},
                                                   {"MatMul", fake_shapes::MatMul},
                                                   {"Mean", fake_shapes::Reduction, {"reduction_indices"}},
                                                   {"Mul", fake_shapes::Broadcast},
                                                   {"Neg", fake_shapes::Unchanged},
                                                   {"OnesLike", fake_shapes::Unchanged},
                                                   {"RealDiv", fake_shapes::Broadcast},
                                                   {"Relu", fake_shapes::Unchanged},
                                                   {"ReluGrad", fake_shapes::Unchanged},
                                                   {"SoftmaxCrossEntropyWithLogits", fake_shapes::CrossEntropy},
                                                   {"Sub", fake_shapes::Broadcast},
                                                   {"Sum", fake_shapes::Reduction, {"reduction_indices"}}}) {
    for (KernelDef def : kernels_of(row.op)) {
      def.device_type = "FAKE";
      def.host_memory = row.host_memory;
      def.create = [cpu = def.create,
                    shapes = row.shapes](const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
        TF_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, cpu(c));
        return std::unique_ptr<Kernel>(std::make_unique<FakeKernel>(std::move(kernel), shapes));
      };
      r.AddDef(std::move(def));
    }
  }
  // Kernels of the CPU that touch no elements but those in host memory.
  const std::vector<std::pair<const char*, std::vector<std::string>>> as_they_are = {
      {"AssignVariableOp", {}},
      {"BroadcastGradientArgs", {"s0", "s1", "r0", "r1"}},
      {"Enter", {}},
      {"Exit", {}},
      {"ExpandDims", {"dim"}},
      {"Identity", {}},
      {"LoopCond", {"input", "output"}},
      {"Merge", {"value_index"}},
      {"NextIteration", {}},
      {"NoOp", {}},
      {"ReadVariableOp", {}},
      {"Reshape", {"shape"}},
      {"Shape", {"output"}},
      {"Size", {"output"}},
      {"Switch", {"pred"}},
      {"VarHandleOp", {}},
      {"VarIsInitializedOp", {"is_initialized"}},
  };
  for (const auto& [op, host_memory] : as_they_are) {
    for (KernelDef def : kernels_of(op)) {
      def.device_type = "FAKE";
      def.host_memory = host_memory;
      r.AddDef(std::move(def));
    }
  }
  // Integers, mostly shapes and axes, stay in host memory.
  for (KernelDef def : kernels_of("Const")) {
    def.device_type = "FAKE";
    def.types = {{"dtype", {kInt32}}};
    def.host_memory = {"output"};
    r.AddDef(std::move(def));
  }
  const auto add = [&r](const char* op, TypeConstraints types, KernelFn compute) {
    r.Add(op, types, compute).device_type = "FAKE";
  };
  r.AddDef({.op = "Const",
            .device_type = "FAKE",
            .types = {{"dtype", {kFloat32, kInt64, kBool}}},
            .create = [](const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
              return std::unique_ptr<Kernel>(std::make_unique<FakeConst>(c));
            }});
  add("ResourceApplyGradientDescent", {{"T", {kFloat32}}}, FakeUpdate<float, -1>);
  add("AssignAddVariableOp", {{"dtype", {kFloat32}}}, FakeUpdate<float, 1>);
  add("AssignSubVariableOp", {{"dtype", {kFloat32}}}, FakeUpdate<float, -1>);
  add("AssignAddVariableOp", {{"dtype", {kInt64}}}, FakeUpdate<int64_t, 1>);
}

// Lets tasks of this program have FAKE devices, if their device_count requests them.
inline bool AddFakeDeviceType() {
  AddDeviceType({.name = "FAKE",
                 .create = [](int id) -> StatusOr<std::unique_ptr<Device>> {
                   return std::unique_ptr<Device>(std::make_unique<FakeDevice>(id));
                 },
                 .register_kernels = RegisterFakeKernels});
  return true;
}
inline const bool kHasFakeDeviceType = AddFakeDeviceType();

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TESTING_FAKE_DEVICE_H_
