// Kernels of staging areas and maps. A device that runs programs uses those of areas, too (pjrt/whole_buffers.h). These
// have no handles: the ops of an area look it up by container and name.
#include "core/text/strings.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/staging_resource.h"

namespace tensorbraid::cpu {
namespace {

// Looks up the area that a node names, or creates it.
class Area {
 public:
  explicit Area(const KernelConstruction& c)
      : container_(c.attr<std::string>("container")),
        shared_name_(c.attr<std::string>("shared_name")),
        name_(shared_name_.empty() ? c.node().name() : shared_name_),
        types_(c.attr<std::vector<DType>>("dtypes")),
        limits_{.capacity = c.attr<int64_t>("capacity"), .memory = c.attr<int64_t>("memory_limit")} {}

  template <typename R>
  StatusOr<RefPtr<R>> Find(const KernelContext& ctx) const {
    TF_RETURN_IF_ERROR(CheckResourceNames(container_, shared_name_));
    // Tensors in the memory of a device are in an area of their own.
    const bool on_device = ctx.device().element_memory() != nullptr;
    const std::string name = on_device ? StrCat(name_, " on ", ctx.device().name()) : name_;
    return ctx.resources().LookupOrCreate<R>(container_, name, [&] {
      if constexpr (std::is_same_v<R, StagingArea>) {
        return MakeRef<StagingArea>(name_, limits_);
      } else {
        return MakeRef<StagingMap>(name_, types_, limits_);
      }
    });
  }

 private:
  const std::string container_;
  const std::string shared_name_;
  const std::string name_;
  const std::vector<DType> types_;
  const StagingLimits limits_;
};

// A kernel that may wait: it finds its area, and then calls kStart.
template <typename R, void (*kStart)(R&, KernelContext&, AsyncKernel::Done)>
class WaitingKernel final : public AsyncKernel {
 public:
  explicit WaitingKernel(const KernelConstruction& c) : area_(c) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto area = area_.Find<R>(ctx);
    if (!area.ok()) return done(area.status());
    kStart(**area, ctx, std::move(done));
  }

 private:
  const Area area_;
};

// A kernel that finds its area, and then calls kCompute.
template <typename R, Status (*kCompute)(R&, KernelContext&)>
class AreaKernel final : public Kernel {
 public:
  explicit AreaKernel(const KernelConstruction& c) : area_(c) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const auto area, area_.Find<R>(ctx));
    return kCompute(*area, ctx);
  }

 private:
  const Area area_;
};

std::vector<Tensor> InputsFrom(KernelContext& ctx, int first) {
  std::vector<Tensor> values;
  for (int i = first; i < ctx.num_inputs(); ++i) values.push_back(ctx.TakeInput(i));
  return values;
}

std::vector<DType> TypesFrom(const KernelContext& ctx, int first) {
  const auto& types = ctx.node().output_types();
  return {types.begin() + first, types.end()};
}

WaitingResource::TakeDone SetOutputs(KernelContext& ctx, AsyncKernel::Done done) {
  return [&ctx, done = std::move(done)](StatusOr<std::vector<Tensor>> taken) {
    if (!taken.ok()) return done(taken.status());
    for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, std::move((*taken)[i]));
    done(OkStatus());
  };
}

void Stage(StagingArea& area, KernelContext& ctx, AsyncKernel::Done done) {
  area.Put(InputsFrom(ctx, 0), ctx.env().cancellation, std::move(done));
}

void Unstage(StagingArea& area, KernelContext& ctx, AsyncKernel::Done done) {
  area.Get(TypesFrom(ctx, 0), ctx.env().cancellation, SetOutputs(ctx, std::move(done)));
}

void StagePeek(StagingArea& area, KernelContext& ctx, AsyncKernel::Done done) {
  if (ctx.input(0).num_elements() != 1) {
    return done(InvalidArgument("index must be a scalar, got shape ", ctx.input(0).shape()));
  }
  area.Peek(ctx.input(0).data<int32_t>()[0], TypesFrom(ctx, 0), ctx.env().cancellation,
            SetOutputs(ctx, std::move(done)));
}

StatusOr<int64_t> KeyOf(const KernelContext& ctx) {
  if (ctx.input(0).shape().rank() == 0) return ctx.input(0).data<int64_t>()[0];
  return InvalidArgument("key must be an int64 scalar, got shape ", ctx.input(0).shape());
}

void MapStage(StagingMap& map, KernelContext& ctx, AsyncKernel::Done done) {
  const auto key = KeyOf(ctx);
  if (!key.ok()) return done(key.status());
  map.Put(*key, ctx.input(1), InputsFrom(ctx, 2), ctx.env().cancellation, std::move(done));
}

template <bool kRemove>
void MapTake(StagingMap& map, KernelContext& ctx, AsyncKernel::Done done) {
  const auto key = KeyOf(ctx);
  if (!key.ok()) return done(key.status());
  map.Get(*key, ctx.input(1), TypesFrom(ctx, 0), kRemove, ctx.env().cancellation, SetOutputs(ctx, std::move(done)));
}

void MapTakeAny(StagingMap& map, KernelContext& ctx, AsyncKernel::Done done) {
  map.GetAny(ctx.input(0), TypesFrom(ctx, 1), ctx.env().cancellation, SetOutputs(ctx, std::move(done)));
}

template <typename R>
Status Size(R& area, KernelContext& ctx) {
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(area.size())));
  return OkStatus();
}

Status IncompleteSize(StagingMap& map, KernelContext& ctx) {
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(map.incomplete_size())));
  return OkStatus();
}

template <typename R>
Status Clear(R& area, KernelContext&) {
  area.Clear();
  return OkStatus();
}

}  // namespace

void RegisterDataFlowStagingKernels(KernelRegistry& r) {
  r.Add<WaitingKernel<StagingArea, Stage>>("Stage");
  r.Add<WaitingKernel<StagingArea, Unstage>>("Unstage");
  r.Add<WaitingKernel<StagingArea, StagePeek>>("StagePeek");
  r.Add<AreaKernel<StagingArea, Size<StagingArea>>>("StageSize");
  r.Add<AreaKernel<StagingArea, Clear<StagingArea>>>("StageClear");
  for (const std::string map : {"Map", "OrderedMap"}) {
    r.Add<WaitingKernel<StagingMap, MapStage>>(map + "Stage");
    r.Add<WaitingKernel<StagingMap, MapTake</*kRemove=*/false>>>(map + "Peek");
    r.Add<WaitingKernel<StagingMap, MapTake</*kRemove=*/true>>>(map + "Unstage");
    r.Add<WaitingKernel<StagingMap, MapTakeAny>>(map + "UnstageNoKey");
    r.Add<AreaKernel<StagingMap, Size<StagingMap>>>(map + "Size");
    r.Add<AreaKernel<StagingMap, IncompleteSize>>(map + "IncompleteSize");
    r.Add<AreaKernel<StagingMap, Clear<StagingMap>>>(map + "Clear");
  }
}

}  // namespace tensorbraid::cpu
