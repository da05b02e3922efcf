#include "runtime/dataset/dataset.h"

#include <optional>

#include "graph/model/graph_impl.h"
#include "runtime/dataset/iterator_state.h"

namespace tensorbraid {
namespace {

// Limits on nesting: producing an element recurses through every dataset below, and so does destruction, on the stack
// of one thread.
constexpr int kMaxDepth = 500;
constexpr int kMaxFunctionDepth = 32;

// A text that differs for functions with different names or attributes. It may be the same for attributes that differ
// only in the contents of constants.
std::string KeyOf(const AttrValue::Function& f) {
  std::string key = f.name;
  for (const auto& [name, value] : f.attrs) key += StrCat(";", name, "=", value.ToString());
  return key;
}

// The iterator of a dataset that a function has returned. Its calls have a greater depth (IteratorContext::depth).
class DeeperIterator final : public Iterator::Impl {
 public:
  DeeperIterator(RefPtr<Dataset> dataset, Iterator iterator, int depth)
      : dataset_(std::move(dataset)), iterator_(std::move(iterator)), depth_(depth) {}
  StatusOr<bool> Next(const IteratorContext& ctx, Element* out) override {
    IteratorContext deeper = ctx;
    deeper.depth = depth_;
    return iterator_(deeper, out);
  }
  StatusOr<bool> Next(const IteratorContext& ctx, std::string* out) override {
    IteratorContext deeper = ctx;
    deeper.depth = depth_;
    return iterator_(deeper, out);
  }
  void Visit(IteratorState& state) override {
    const int before = state.SetDepth(depth_);
    state(iterator_);
    state.SetDepth(before);
  }

 private:
  const RefPtr<Dataset> dataset_;
  Iterator iterator_;
  const int depth_;
};

}  // namespace

StatusOr<bool> Iterator::Impl::Next(const IteratorContext& ctx, std::string* out) {
  Element element;
  TF_ASSIGN_OR_RETURN(const bool more, Next(ctx, &element));
  if (!more) return false;
  if (element.size() != 1 || element[0].dtype() != kString || element[0].shape().rank() != 0) {
    return InvalidArgument(name_, " should return scalar strings, but has returned ", element.size(), " components",
                           element.empty() ? "" : StrCat(", first ", element[0].dtype(), element[0].shape()));
  }
  if (element[0].IsWritable()) {
    *out = std::move(element[0].inplace_data<std::string>()[0]);
  } else {
    *out = element[0].scalar<std::string>();
  }
  return true;
}

DataEnvironment::DataEnvironment(const FunctionRuntime* functions, FunctionRuntime::Place place)
    : functions_(functions), place_(std::move(place)) {
  const uint64_t id = place_.pool->OnStop([this] {
    cancellation_.Cancel(Cancelled("the task is stopping"));
    MutexLock lock(mu_);
    on_stop_ = 0;
  });
  MutexLock lock(mu_);
  on_stop_ = id;
}

void DataEnvironment::Cancel() { cancellation_.Cancel(Cancelled("the iterator has been deleted")); }

DataEnvironment::~DataEnvironment() {
  Cancel();
  uint64_t on_stop;
  {
    MutexLock lock(mu_);
    idle_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return running_ == 0; });
    on_stop = on_stop_;
  }
  if (on_stop != 0) place_.pool->RemoveOnStop(on_stop);
}

StatusOr<std::shared_ptr<RunnableFunction>> DataEnvironment::Instantiate(
    const AttrValue::Function& function, const std::shared_ptr<const FunctionLibrary>& library) {
  if (functions_ == nullptr) return Unimplemented("cannot run functions: there is no function runtime");
  const std::pair<const FunctionLibrary*, std::string> key{library.get(), KeyOf(function)};
  {
    MutexLock lock(mu_);
    const auto it = instances_.find(key);
    if (it != instances_.end()) return it->second;
  }
  TF_ASSIGN_OR_RETURN(auto made, functions_->Instantiate(function, library, place_));
  MutexLock lock(mu_);
  if (const auto states = restored_.find(key.second); states != restored_.end()) {
    for (const auto& [node, state] : states->second) TF_RETURN_IF_ERROR(made->states().Restore(node, state[0]));
  }
  const auto [it, added] = instances_.emplace(key, std::move(made));
  if (added) libraries_.push_back(library);
  return it->second;
}

void DataEnvironment::VisitFunctions(IteratorState& state) {
  MutexLock lock(mu_);
  std::map<std::string, States> all;
  if (!state.restores()) {
    all = restored_;  // saved again for the functions that have not been instantiated since
    for (const auto& [key, instance] : instances_) {
      States& states = all[key.second];
      states.clear();
      for (auto& [node, kernel_state] : instance->states().SaveAll()) states[node] = {std::move(kernel_state)};
    }
  }
  state(all);
  if (!state.restores() || !state.status().ok()) return;
  for (const auto& [key, states] : all) {
    for (const auto& [node, saved] : states) {
      if (saved.size() != 1) return state.Fail(DataLoss("the saved state of a function is malformed"));
    }
  }
  restored_ = std::move(all);  // functions that are instantiated later take their states from it
  for (const auto& [key, instance] : instances_) {
    for (const auto& [node, saved] : restored_[key.second]) {
      if (const Status status = instance->states().Restore(node, saved[0]); !status.ok()) return state.Fail(status);
    }
  }
}

bool DataEnvironment::RunInBackground(std::function<void()> work) {
  if (cancellation_.IsCancelled()) return false;
  {
    MutexLock lock(mu_);
    ++running_;
  }
  place_.pool->ScheduleBlocking([this, work = std::move(work)]() mutable {
    work();
    work = nullptr;
    MutexLock lock(mu_);
    if (--running_ == 0) idle_.NotifyAll();
  });
  return true;
}

StatusOr<RefPtr<Dataset>> Dataset::Create(std::string name, std::vector<DType> types, std::vector<Shape> shapes,
                                          const std::vector<RefPtr<Dataset>>& inputs, Make make, int64_t cardinality,
                                          std::function<uint64_t()> fingerprint) {
  int depth = 0;
  for (const auto& input : inputs) depth = std::max(depth, input->depth_ + 1);
  if (depth > kMaxDepth) return InvalidArgument("more than ", kMaxDepth, " datasets are nested");
  if (types.size() != shapes.size()) {
    return InvalidArgument("there are ", types.size(), " output_types, but ", shapes.size(), " output_shapes");
  }
  return MakeRef<Dataset>(std::move(name), std::move(types), std::move(shapes), std::move(make), cardinality,
                          std::move(fingerprint), depth);
}

CapturedFunction CapturedFunction::FromNode(const KernelContext& ctx, const char* attr, int first_captured, int end) {
  CapturedFunction f;
  f.function_ = ctx.node().attr<std::shared_ptr<const AttrValue::Function>>(attr);
  f.library_ = ImplOf(*ctx.node().graph()).functions();
  for (int i = first_captured; i < end; ++i) f.captured_.push_back(ctx.input(i));
  return f;
}

void CapturedFunction::Start(DataEnvironment* env, Element args, CancellationManager* cancellation,
                             RunnableFunction::Done done) const {
  auto function = env->Instantiate(*function_, library_);
  if (!function.ok()) return done(function.status());
  args.insert(args.end(), captured_.begin(), captured_.end());
  RunnableFunction* runnable = function->get();
  runnable->Run(std::move(args), cancellation,
                [held = *std::move(function), name = function_->name, done = std::move(done)](auto values) {
                  if (!values.ok()) return done(Annotate(values.status(), StrCat("function '", name, "'")));
                  done(std::move(values));
                });
}

StatusOr<Element> CapturedFunction::Run(const IteratorContext& ctx, Element args) const {
  struct State {
    CancellationManager cancellation;
    Mutex mu;
    CondVar cv;
    std::optional<StatusOr<Element>> result TB_GUARDED_BY(mu);
  };
  // The run has its own cancellation manager, because an error in the body cancels it, and must not cancel the
  // caller's.
  auto state = std::make_shared<State>();
  CancellationManager::Token token = 0;
  const bool registered =
      ctx.cancellation->Register([state](const Status& why) { state->cancellation.Cancel(why); }, &token);
  if (!registered) return ctx.cancellation->status();
  Start(ctx.env, std::move(args), &state->cancellation, [state](StatusOr<Element> values) {
    MutexLock lock(state->mu);
    state->result = std::move(values);
    state->cv.NotifyAll();
  });
  {
    MutexLock lock(state->mu);
    state->cv.Wait(state->mu, [&]() TB_REQUIRES(state->mu) { return state->result.has_value(); });
  }
  ctx.cancellation->TryDeregister(token);
  MutexLock lock(state->mu);
  return *std::move(state->result);
}

StatusOr<Iterator> CapturedFunction::RunToIterator(const IteratorContext& ctx, Element args) const {
  if (ctx.depth >= kMaxFunctionDepth) {
    return InvalidArgument("datasets that functions return are nested more than ", kMaxFunctionDepth, " deep");
  }
  TF_ASSIGN_OR_RETURN(const Element result, Run(ctx, std::move(args)));
  if (result.size() != 1) {
    return InvalidArgument("function '", function_->name, "' must return one dataset, but returned ", result.size(),
                           " tensors");
  }
  TF_ASSIGN_OR_RETURN(Dataset * dataset, VariantAs<Dataset>(result[0]));
  IteratorContext inside = ctx;
  ++inside.depth;
  TF_ASSIGN_OR_RETURN(Iterator iterator, dataset->MakeIterator(inside));
  return Iterator(std::make_shared<DeeperIterator>(RefPtr<Dataset>::Share(dataset), std::move(iterator), inside.depth));
}

StatusOr<bool> CapturedFunction::RunToBool(const IteratorContext& ctx, Element args) const {
  TF_ASSIGN_OR_RETURN(const Element result, Run(ctx, std::move(args)));
  if (result.size() != 1 || result[0].dtype() != kBool || result[0].num_elements() != 1) {
    return InvalidArgument("predicate '", function_->name, "' must return a scalar bool");
  }
  return result[0].data<bool>()[0];
}

Status CheckElement(const Element& element, const std::vector<DType>& types, const std::vector<Shape>& shapes) {
  if (element.size() != types.size()) {
    return InvalidArgument("an element has ", element.size(), " components, but ", types.size(), " are declared");
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (element[i].dtype() != types[i] || (i < shapes.size() && !shapes[i].IsCompatibleWith(element[i].shape()))) {
      return InvalidArgument("component ", i, " of an element is ", element[i].dtype(), element[i].shape(),
                             ", but is declared as ", types[i], i < shapes.size() ? shapes[i] : Shape::Unknown());
    }
  }
  return OkStatus();
}

Status CheckSignature(const std::vector<DType>& types, const std::vector<Shape>& shapes,
                      const std::vector<DType>& wanted_types, const std::vector<Shape>& wanted_shapes) {
  if (types.size() != wanted_types.size()) {
    return InvalidArgument("elements must have ", wanted_types.size(), " components, got ", types.size());
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] != wanted_types[i]) {
      return InvalidArgument("component ", i, " of the elements must be ", wanted_types[i], ", got ", types[i]);
    }
  }
  for (size_t i = 0; i < std::min(shapes.size(), wanted_shapes.size()); ++i) {
    if (!shapes[i].IsCompatibleWith(wanted_shapes[i])) {
      return InvalidArgument("component ", i, " of the elements must have shape ", wanted_shapes[i], ", got ",
                             shapes[i]);
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
