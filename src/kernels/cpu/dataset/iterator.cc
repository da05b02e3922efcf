// Kernels that create and use iterators, and kernels that consume a whole dataset in one call.
#include <algorithm>
#include <atomic>

#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "runtime/dataset/element_target.h"
#include "runtime/dataset/iterator_resource.h"
#include "runtime/dataset/variant_values.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Makes a name for the iterator of a node without a shared_name. Each call returns another name.
std::string UniqueName(const std::string& node) {
  static std::atomic<uint64_t> next{1};
  return StrCat("_", next++, "_", node);
}

// Holds an iterator in the resource manager. An iterator without a shared name is private to the kernel and is deleted
// with it, at the latest when the session ends.
class IteratorHolder {
 public:
  explicit IteratorHolder(const KernelConstruction& c)
      : container_(c.attr<std::string>("container")),
        shared_name_(c.attr<std::string>("shared_name")),
        device_(c.device()),
        types_(c.attr<std::vector<DType>>("output_types")),
        shapes_(c.attr<std::vector<Shape>>("output_shapes")),
        resources_(c.resources()) {
    name_ = shared_name_.empty() ? UniqueName(c.node().name()) : shared_name_;
  }
  ~IteratorHolder() {
    if (shared_name_.empty() && resource_) {
      static_cast<void>(resources_->Delete(container_, name_, resource_.get()));
    }
  }

  // The iterator, which the first call creates. Looks it up again after resources were deleted (generation). Sets *made
  // to whether this call created it.
  StatusOr<RefPtr<IteratorResource>> Get(bool* made) {
    *made = false;
    if (!resource_ || resources_->generation() != generation_) {
      generation_ = resources_->generation();
      TF_ASSIGN_OR_RETURN(auto found, resources_->LookupOrCreate<IteratorResource>(container_, name_, [&] {
        *made = true;
        return MakeRef<IteratorResource>(name_, types_, shapes_);
      }));
      TF_RETURN_IF_ERROR(CheckSignature(found->types(), found->shapes(), types_, shapes_));
      resource_ = std::move(found);
    }
    return resource_;
  }
  Tensor Handle() const { return MakeHandleTensor(resource_, device_, container_, name_); }
  void Forget() {
    static_cast<void>(resources_->Delete(container_, name_, resource_.get()));
    resource_.reset();
  }

 private:
  const std::string container_;
  const std::string shared_name_;
  const std::string device_;
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  ResourceManager* const resources_;
  std::string name_;
  RefPtr<IteratorResource> resource_;
  uint64_t generation_ = 0;
};

class IteratorKernel final : public Kernel {
 public:
  explicit IteratorKernel(const KernelConstruction& c) : holder_(c) {}
  Status Compute(KernelContext& ctx) override {
    MutexLock lock(mu_);
    bool made;
    TF_RETURN_IF_ERROR(holder_.Get(&made).status());
    ctx.set_output(0, holder_.Handle());
    return OkStatus();
  }

 private:
  Mutex mu_;
  IteratorHolder holder_ TB_GUARDED_BY(mu_);
};

// An iterator that lives as long as its handle. iter(dataset) in a function creates it.
Status AnonymousIterator(KernelContext& ctx) {
  auto iterator = MakeRef<IteratorResource>(ctx.node().name(), ctx.node().attr<std::vector<DType>>("output_types"),
                                            ctx.node().attr<std::vector<Shape>>("output_shapes"));
  ctx.set_output(0, MakeHandleTensor(std::move(iterator), ctx.node().device(), "", ctx.node().name()));
  return OkStatus();
}

Status PassOn(KernelContext& ctx) {
  ctx.set_output(0, ctx.input(0));
  return OkStatus();
}

// The resource of handles that ops require as inputs but do not use.
class DummyResource final : public Resource {
 public:
  std::string DebugString() const override { return "a dummy"; }
};

Status Dummy(KernelContext& ctx) {
  ctx.set_output(0, MakeHandleTensor(MakeRef<DummyResource>(), ctx.node().device(), "", ctx.node().name()));
  return OkStatus();
}

// An iterator over the dataset that a function returns. The function runs once, when the iterator is created.
class OneShotIteratorKernel final : public AsyncKernel {
 public:
  explicit OneShotIteratorKernel(const KernelConstruction& c) : holder_(c) {}

  void ComputeAsync(KernelContext& ctx, Done done) override {
    ctx.pool().ScheduleBlocking([this, &ctx, done = std::move(done)] {
      const Status status = Open(ctx);
      done(status);
    });
  }

 private:
  Status Open(KernelContext& ctx) {
    MutexLock lock(mu_);
    bool made;
    TF_ASSIGN_OR_RETURN(const auto resource, holder_.Get(&made));
    if (made) {
      const Status started = Start(ctx, *resource);
      if (!started.ok()) {
        holder_.Forget();
        return started;
      }
    }
    ctx.set_output(0, holder_.Handle());
    return OkStatus();
  }

  static Status Start(KernelContext& ctx, IteratorResource& resource) {
    DataEnvironment env(ctx.env().functions, PlaceOf(ctx));
    const auto factory = CapturedFunction::FromNode(ctx, "dataset_factory", 0, 0);
    TF_ASSIGN_OR_RETURN(const Element result,
                        factory.Run({.env = &env, .cancellation = ctx.env().cancellation, .depth = 0}, {}));
    if (result.size() != 1)
      return InvalidArgument("dataset_factory must return one dataset, but returned ", result.size(), " tensors");
    TF_ASSIGN_OR_RETURN(Dataset * dataset, VariantAs<Dataset>(result[0]));
    return resource.Start(RefPtr<Dataset>::Share(dataset), ctx.env().functions, PlaceOf(ctx));
  }

  Mutex mu_;
  IteratorHolder holder_ TB_GUARDED_BY(mu_);
};

Status MakeIterator(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto dataset, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const auto iterator, ctx.LookupResource<IteratorResource>(1));
  return iterator->Start(dataset, ctx.env().functions, PlaceOf(ctx));
}

Status SetElement(KernelContext& ctx, const Element& element) {
  TF_RETURN_IF_ERROR(CheckElement(element, ctx.node().attr<std::vector<DType>>("output_types"),
                                  ctx.node().attr<std::vector<Shape>>("output_shapes")));
  for (size_t i = 0; i < element.size(); ++i) ctx.set_output(static_cast<int>(i), element[i]);
  return OkStatus();
}

// What the plan wants in the memory of the node's device; null if that is nothing.
std::shared_ptr<const ElementTarget> TargetOf(const KernelContext& ctx) {
  if (ctx.device().uses_host_memory()) return nullptr;
  ElementTarget target{.device = &ctx.device(), .wanted = std::vector<bool>(ctx.num_outputs())};
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    target.wanted[i] = &ctx.output_memory(i) == &ctx.device().allocator();
  }
  if (std::ranges::find(target.wanted, true) == target.wanted.end()) return nullptr;
  return std::make_shared<const ElementTarget>(std::move(target));
}

// IteratorGetNext also has this kernel on accelerators (pjrt/whole_buffers.h).
template <bool kAsOptional>
class GetNextKernel final : public AsyncKernel {
 public:
  explicit GetNextKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto iterator = ctx.LookupResource<IteratorResource>(0);
    if (!iterator.ok()) return done(iterator.status());
    (*iterator)->Next(
        &ctx.pool(), ctx.env().cancellation,
        [&ctx, done = std::move(done)](StatusOr<std::optional<Element>> next) {
          if (!next.ok()) return done(next.status());
          if (kAsOptional) {
            ctx.set_output(
                0, MakeVariantTensor(*next ? MakeRef<OptionalValue>(**std::move(next)) : MakeRef<OptionalValue>()));
            return done(OkStatus());
          }
          if (!*next) return done(OutOfRange("End of sequence"));
          done(SetElement(ctx, **next));
        },
        kAsOptional ? nullptr : TargetOf(ctx));
  }
};

// Outputs the state of an iterator: a variant that holds a string tensor (see runtime/dataset/iterator_state.h).
class SerializeKernel final : public AsyncKernel {
 public:
  explicit SerializeKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto iterator = ctx.LookupResource<IteratorResource>(0);
    if (!iterator.ok()) return done(iterator.status());
    (*iterator)->Save(&ctx.pool(), ctx.env().cancellation, [&ctx, done = std::move(done)](StatusOr<std::string> saved) {
      if (!saved.ok()) return done(saved.status());
      auto state = MakeRef<TensorValue>(Tensor::Scalar(*std::move(saved)));
      ctx.set_output(0, MakeVariantTensor(std::move(state)));
      done(OkStatus());
    });
  }
};

class DeserializeKernel final : public AsyncKernel {
 public:
  explicit DeserializeKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    auto iterator = ctx.LookupResource<IteratorResource>(0);
    if (!iterator.ok()) return done(iterator.status());
    const auto value = VariantAs<TensorValue>(ctx.input(1));
    if (!value.ok()) return done(value.status());
    const Tensor& state = (*value)->tensor;
    if (state.dtype() != kString || state.num_elements() != 1) {
      return done(InvalidArgument("the serialized iterator must be a string, got ", state.dtype(), state.shape()));
    }
    (*iterator)->Restore(&ctx.pool(), ctx.env().cancellation, state.data<std::string>()[0], std::move(done));
  }
};

// A string handle is this prefix, then the device, the container and the name, separated by line feeds.
constexpr std::string_view kHandlePrefix = "tensorbraid-iterator\n";

// A string does not keep an iterator alive. So an anonymous iterator gets an entry in the resource manager, which lasts
// until the iterator is destroyed by name or the container is cleared.
Status ToStringHandle(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto iterator, ctx.LookupResource<IteratorResource>(0));
  TF_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(ctx.input(0)));
  std::string name = handle->name;
  const auto known = ctx.resources().Lookup<IteratorResource>(handle->container, name);
  if (!known.ok() || known->get() != iterator.get()) {
    name = UniqueName(name);
    TF_RETURN_IF_ERROR(
        ctx.resources().LookupOrCreate<IteratorResource>(handle->container, name, [&] { return iterator; }).status());
  }
  ctx.set_output(0, Tensor::Scalar(StrCat(kHandlePrefix, handle->device, "\n", handle->container, "\n", name)));
  return OkStatus();
}

Status FromStringHandle(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string text, StringInput(ctx, 0, "string_handle"));
  const std::vector<std::string> parts =
      text.starts_with(kHandlePrefix) ? StrSplit(text.substr(kHandlePrefix.size()), '\n') : std::vector<std::string>();
  if (parts.size() != 3) return InvalidArgument("string_handle is not the handle of an iterator");
  TF_ASSIGN_OR_RETURN(auto iterator, ctx.resources().Lookup<IteratorResource>(parts[1], parts[2]));
  const auto& types = ctx.node().attr<std::vector<DType>>("output_types");
  if (!types.empty()) {
    TF_RETURN_IF_ERROR(CheckSignature(iterator->types(), iterator->shapes(), types,
                                      ctx.node().attr<std::vector<Shape>>("output_shapes")));
  }
  ctx.set_output(0, MakeHandleTensor(std::move(iterator), parts[0], parts[1], parts[2]));
  return OkStatus();
}

Status SingleElement(KernelContext& ctx, const IteratorContext& context, const Iterator& pull) {
  Element element, second;
  TF_ASSIGN_OR_RETURN(const bool one, pull(context, &element));
  if (!one) return InvalidArgument("expected a dataset with exactly one element: Dataset was empty.");
  TF_ASSIGN_OR_RETURN(const bool two, pull(context, &second));
  if (two) return InvalidArgument("expected a dataset with exactly one element: Dataset had more than one element.");
  return SetElement(ctx, element);
}

Status Reduce(KernelContext& ctx, const IteratorContext& context, const Iterator& pull) {
  const int states = static_cast<int>(ctx.node().attr<std::vector<DType>>("Tstate").size());
  const auto f = CapturedFunction::FromNode(ctx, "f", 1 + states, ctx.num_inputs());
  Element state;
  for (int i = 0; i < states; ++i) state.push_back(ctx.input(1 + i));
  while (true) {
    TF_RETURN_IF_ERROR(context.cancellation->status());
    Element element;
    TF_ASSIGN_OR_RETURN(const bool more, pull(context, &element));
    if (!more) return SetElement(ctx, state);
    Element args = state;
    args.insert(args.end(), element.begin(), element.end());
    TF_ASSIGN_OR_RETURN(state, f.Run(context, std::move(args)));
    if (static_cast<int>(state.size()) != states) {
      return InvalidArgument("the reduce function must return ", states, " tensors, but returned ", state.size());
    }
  }
}

}  // namespace

void RegisterDatasetIteratorKernels(KernelRegistry& r) {
  r.Add<IteratorKernel>("Iterator");
  r.Add<IteratorKernel>("IteratorV2");
  r.Add("AnonymousIterator", {}, AnonymousIterator);
  r.Add("AnonymousIteratorV3", {}, AnonymousIterator);
  r.Add("WrapDatasetVariant", {}, PassOn);
  r.Add("UnwrapDatasetVariant", {}, PassOn);
  r.Add("DummySeedGenerator", {}, Dummy);
  r.Add("DummyMemoryCache", {}, Dummy);
  r.Add<OneShotIteratorKernel>("OneShotIterator");
  r.Add("MakeIterator", {}, MakeIterator);
  r.Add<GetNextKernel<false>>("IteratorGetNext");
  r.Add<GetNextKernel<false>>("IteratorGetNextSync");
  r.Add<GetNextKernel<true>>("IteratorGetNextAsOptional");
  r.Add<SerializeKernel>("SerializeIterator");
  r.Add<DeserializeKernel>("DeserializeIterator");
  r.Add("IteratorToStringHandle", {}, ToStringHandle);
  r.Add("IteratorFromStringHandle", {}, FromStringHandle);
  r.Add("IteratorFromStringHandleV2", {}, FromStringHandle);
  r.Add<PullKernel<SingleElement>>("DatasetToSingleElement");
  r.Add<PullKernel<Reduce>>("ReduceDataset");
}

}  // namespace tensorbraid::cpu
