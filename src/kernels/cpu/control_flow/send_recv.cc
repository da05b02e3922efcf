// Kernels of _Send, _Recv and _Copy, which the executor and the partitioner insert where a tensor goes to another task
// or to another memory.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/threads/at_once_or_pool.h"
#include "core/threads/mutex.h"
#include "core/values/new_tensor.h"
#include "runtime/dataset/variant_values.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/rendezvous.h"

namespace tensorbraid::cpu {
namespace {

StepEdge EdgeOf(const KernelConstruction& c) {
  return {.number = static_cast<uint32_t>(c.attr<int64_t>("edge")),
          .peer = static_cast<uint32_t>(c.attr<int64_t>("peer_number")),
          .bytes_hint = c.attr<int64_t>("bytes")};
}

class SendKernel final : public Kernel {
 public:
  explicit SendKernel(const KernelConstruction& c) : edge_(EdgeOf(c)) {}
  Status Compute(KernelContext& ctx) override {
    ctx.env().rendezvous->Send(edge_, ctx.position(), ctx.TakeInput(0));
    return OkStatus();
  }

 private:
  const StepEdge edge_;
};

class RecvKernel final : public AsyncKernel {
 public:
  explicit RecvKernel(const KernelConstruction& c)
      : edge_(EdgeOf(c)),
        peer_(c.attr<std::string>("peer")),
        dtype_(c.attr<DType>("T")),
        may_be_dead_(c.attr<bool>("may_be_dead")) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    ctx.env().rendezvous->Recv(edge_, ctx.position(), [this, &ctx, done = std::move(done)](StatusOr<Tensor> value) {
      if (!value.ok()) return done(value.status());
      if (may_be_dead_ && !value->is_valid()) return done(OkStatus());  // dead: there is no output
      if (value->dtype() != dtype_) {
        return done(InvalidArgument(peer_, " sent ", value->dtype(), " where ", dtype_, " was expected"));
      }
      ctx.set_output(0, *std::move(value));
      done(OkStatus());
    });
  }

 private:
  const StepEdge edge_;
  const std::string peer_;
  const DType dtype_;
  const bool may_be_dead_;
};

// Copies a tensor between host memory and the memory of the node's device. The executor has chosen the memory in which
// AllocateOutput allocates. Of a list, copies the elements; other variants have none in the memory of a device.
class CopyKernel final : public AsyncKernel {
 public:
  explicit CopyKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    const Tensor& from = ctx.input(0);
    std::vector<std::pair<Tensor, Tensor>> copies;
    if (from.dtype() == DType::kVariant) {
      auto to = CopyOf(from, ctx.output_memory(0), copies, 0);
      if (!to.ok()) return done(to.status());
      ctx.set_output(0, *std::move(to));
    } else {
      if (!IsPlain(from.dtype())) return done(InvalidArgument("a tensor of dtype ", from.dtype(), " cannot be copied"));
      const auto to = ctx.AllocateOutput(0, from.shape());
      if (!to.ok()) return done(to.status());
      copies.emplace_back(from, **to);
    }
    if (copies.empty()) return done(OkStatus());
    auto all = std::make_shared<Copies>(copies.size(), ctx.pool(), std::move(done));
    for (const auto& [source, to] : copies) {
      ctx.device().Copy(source, to, [all](const Status& status) { all->End(status); });
    }
    all->AllHaveBegun();
  }

 private:
  // Copies that end one by one.
  class Copies {
   public:
    Copies(size_t number, ThreadPool& pool, Done done) : left_(number), after_(pool), done_(std::move(done)) {}
    void End(const Status& status) {
      std::function<void()> end;
      {
        MutexLock lock(mu_);
        if (status_.ok()) status_ = status;
        if (--left_ > 0) return;
        end = [done = std::move(done_), first = status_] { done(first); };
      }
      // A device that calls back later does so on its own thread, which must not run the nodes that follow.
      after_.Run(std::move(end));
    }
    void AllHaveBegun() { after_.CallHasReturned(); }

   private:
    Mutex mu_;
    size_t left_ TB_GUARDED_BY(mu_);
    Status status_ TB_GUARDED_BY(mu_);
    AtOnceOrPool after_;
    Done done_ TB_GUARDED_BY(mu_);
  };

  // A tensor of variants whose lists have elements in `memory`. `copies` are the copies of elements that this needs.
  static StatusOr<Tensor> CopyOf(const Tensor& from, Allocator& memory, std::vector<std::pair<Tensor, Tensor>>& copies,
                                 int depth) {
    if (depth > kMaxNesting) return InvalidArgument("lists are nested too deeply to be copied");
    TF_ASSIGN_OR_RETURN(Tensor to, Tensor::Create(DType::kVariant, from.shape()));
    for (int64_t i = 0; i < from.num_elements(); ++i) {
      const auto at = static_cast<size_t>(i);
      const Variant& value = from.data<Variant>()[at];
      const auto* list = dynamic_cast<const TensorListValue*>(value.value.get());
      if (list == nullptr) {
        to.inplace_data<Variant>()[at] = value;
        continue;
      }
      auto copy = list->Copy();
      for (Tensor& element : copy->elements) {
        if (!element.is_valid()) continue;
        if (element.dtype() == DType::kVariant) {
          TF_ASSIGN_OR_RETURN(element, CopyOf(element, memory, copies, depth + 1));
        } else if (IsPlain(element.dtype())) {
          TF_ASSIGN_OR_RETURN(Tensor place, NewTensor(element.dtype(), element.shape(), memory));
          copies.emplace_back(std::exchange(element, place), place);
        }
      }
      to.inplace_data<Variant>()[at].value = std::move(copy);
    }
    return to;
  }
  static constexpr int kMaxNesting = 64;  // so that a graph cannot exhaust the call stack
};

}  // namespace

// The executor implements _Arg and _Retval itself, so they have no kernels.
void RegisterControlFlowSendRecvKernels(KernelRegistry& r) {
  r.Add<SendKernel>("_Send");
  r.Add<RecvKernel>("_Recv");
  r.Add<CopyKernel>("_Copy");
}

}  // namespace tensorbraid::cpu
