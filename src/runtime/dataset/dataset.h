// Defines datasets and their iterators.
//
// A dataset is a value in a variant tensor. It makes iterators. An iterator yields one element per call, on a thread
// that may block (ThreadPool::ScheduleBlocking); it runs functions through the task's executor.
#ifndef TENSORBRAID_RUNTIME_DATASET_DATASET_H_
#define TENSORBRAID_RUNTIME_DATASET_DATASET_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/system/file_access.h"
#include "core/text/strings.h"
#include "core/values/fingerprint.h"
#include "core/values/variant.h"
#include "runtime/kernel/function_runtime.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

using Element = std::vector<Tensor>;
class IteratorState;
struct ElementTarget;

// Shared by all iterators of one input pipeline: instantiates their functions and runs their background work.
// Thread-safe.
class DataEnvironment {
 public:
  DataEnvironment(const FunctionRuntime* functions, FunctionRuntime::Place place);
  // Cancels the background work and waits until it has ended.
  ~DataEnvironment();
  DataEnvironment(const DataEnvironment&) = delete;
  DataEnvironment& operator=(const DataEnvironment&) = delete;

  // Instantiates each function of a library once, so that its state lasts from one element to the next.
  StatusOr<std::shared_ptr<RunnableFunction>> Instantiate(const AttrValue::Function& function,
                                                          const std::shared_ptr<const FunctionLibrary>& library);
  const FunctionRuntime::Place& place() const { return place_; }
  // The file limit of the thread that made this environment (core/system/file_access.h); null if there is none.
  const FileAccess* files() const { return files_; }

  // Runs `work` on a thread that may block. `work` must register its waits with cancellation(). Returns false, and runs
  // nothing, if the environment is already cancelled.
  bool RunInBackground(std::function<void()> work);
  CancellationManager* cancellation() { return &cancellation_; }
  // Cancels the background work, without waiting for it.
  void Cancel();

  // Saves or restores the state of the functions' stateful kernels, such as random generators. A restore also holds for
  // functions that are instantiated later.
  void VisitFunctions(IteratorState& state);

 private:
  const FunctionRuntime* const functions_;
  const FunctionRuntime::Place place_;
  const FileAccess* const files_ = CurrentFileAccess();
  CancellationManager cancellation_;
  Mutex mu_;
  CondVar idle_;
  uint64_t on_stop_ TB_GUARDED_BY(mu_) = 0;  // id of the OnStop closure; 0 once the pool is stopping
  int running_ TB_GUARDED_BY(mu_) = 0;
  std::map<std::pair<const FunctionLibrary*, std::string>, std::shared_ptr<RunnableFunction>> instances_
      TB_GUARDED_BY(mu_);
  // The restored states of the kernels of one function, keyed by node.
  using States = std::map<std::string, std::vector<Tensor>>;
  // Keyed by function. An instance of the function that is made later starts with its states.
  std::map<std::string, States> restored_ TB_GUARDED_BY(mu_);
  // Keeps alive the libraries whose addresses are keys of instances_.
  std::vector<std::shared_ptr<const FunctionLibrary>> libraries_ TB_GUARDED_BY(mu_);
};

// The context of one call of an iterator.
struct IteratorContext {
  DataEnvironment* env = nullptr;               // outlives every iterator made with it
  CancellationManager* cancellation = nullptr;  // of the request for the element
  int depth = 0;                                // nesting depth of datasets that functions return
};

// A handle of an iterator, or null. Copies refer to the same iterator. Not thread-safe.
class Iterator {
 public:
  class Impl {
   public:
    virtual ~Impl() = default;
    virtual StatusOr<bool> Next(const IteratorContext& ctx, Element* out) = 0;
    // By default takes the string out of the tensor that the other Next returns.
    virtual StatusOr<bool> Next(const IteratorContext& ctx, std::string* out);
    virtual void Visit(IteratorState& state) = 0;
    // By default the iterator gives elements in host memory.
    virtual void PrepareFor(const std::shared_ptr<const ElementTarget>& /*target*/) {}

   private:
    friend class Iterator;
    std::string name_;  // of the dataset, for IteratorState::CheckName
  };

  Iterator() = default;
  Iterator(std::nullptr_t) {}  // NOLINT: converts
  explicit Iterator(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  // Sets *out to the next element and returns true; returns false at the end, and in every call after it. May block;
  // fails, usually with Cancelled, when the context's `cancellation` is cancelled.
  StatusOr<bool> operator()(const IteratorContext& ctx, Element* out) const { return impl_->Next(ctx, out); }
  // The same for elements that are one scalar string (Dataset::has_string_elements). No tensor is made for each of them
  // if the iterators below work with strings, too: a tensor costs more than the string. Returns InvalidArgument for
  // other elements.
  StatusOr<bool> operator()(const IteratorContext& ctx, std::string* out) const { return impl_->Next(ctx, out); }
  // Saves or restores the state of the iterator and of those below it (iterator_state.h).
  void Visit(IteratorState& state) const { impl_->Visit(state); }
  // Says where the step of the next call needs the element: in the memory of a device (element_target.h), or in host
  // memory (null). Call it before each call of Next, and on the outermost iterator only. An iterator that has elements
  // ahead may copy them ahead, too, and then gives elements whose wanted components are on the device. Other iterators
  // give elements in host memory.
  void PrepareFor(const std::shared_ptr<const ElementTarget>& target) const { impl_->PrepareFor(target); }

  const std::string& name() const { return impl_->name_; }
  // Sets the name, unless the iterator has one: a dataset may pass on the iterator of its input.
  void SetName(const std::string& name) {
    if (impl_->name_.empty()) impl_->name_ = name;
  }

  friend bool operator==(const Iterator& iterator, std::nullptr_t) { return iterator.impl_ == nullptr; }

 private:
  std::shared_ptr<Impl> impl_;
};

// Immutable.
class Dataset final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "dataset";
  using Make = std::function<StatusOr<Iterator>(const IteratorContext& ctx)>;
  static constexpr int64_t kInfinite = -1;
  static constexpr int64_t kUnknown = -2;

  // `fingerprint` computes Fingerprint(), by default from the name. InvalidArgument if datasets are nested so deeply
  // that iterating would overflow a thread's stack.
  static StatusOr<RefPtr<Dataset>> Create(std::string name, std::vector<DType> types, std::vector<Shape> shapes,
                                          const std::vector<RefPtr<Dataset>>& inputs, Make make,
                                          int64_t cardinality = kUnknown,
                                          std::function<uint64_t()> fingerprint = nullptr);

  StatusOr<Iterator> MakeIterator(const IteratorContext& ctx) const {
    TF_ASSIGN_OR_RETURN(Iterator iterator, make_(ctx));
    iterator.SetName(name_);
    return iterator;
  }
  const std::string& name() const { return name_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  // Whether every element is one scalar string, such as a line of a file.
  bool has_string_elements() const {
    return types_ == std::vector<DType>{kString} && shapes_ == std::vector<Shape>{Shape()};
  }
  // Number of elements, kInfinite or kUnknown.
  int64_t cardinality() const { return cardinality_; }
  // Equal for datasets of equal ops with equal inputs, also in other processes. Takes time in proportion to the inputs.
  uint64_t Fingerprint() const { return fingerprint_ != nullptr ? fingerprint_() : Fingerprint64(name_); }
  std::string DebugString() const override { return StrCat("a ", name_); }

 private:
  template <typename T, typename... Args>
  friend RefPtr<T> MakeRef(Args&&... args);
  Dataset(std::string name, std::vector<DType> types, std::vector<Shape> shapes, Make make, int64_t cardinality,
          std::function<uint64_t()> fingerprint, int depth)
      : name_(std::move(name)),
        types_(std::move(types)),
        shapes_(std::move(shapes)),
        make_(std::move(make)),
        cardinality_(cardinality),
        fingerprint_(std::move(fingerprint)),
        depth_(depth) {}

  const std::string name_;
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  const Make make_;
  const int64_t cardinality_;
  const std::function<uint64_t()> fingerprint_;
  const int depth_;
};

// A function and its captured inputs, which follow the element's components as arguments. Cheap enough to copy into
// iterators.
class CapturedFunction {
 public:
  CapturedFunction() = default;
  // The function named by attribute `attr` of the kernel's node, with inputs [first_captured, end) captured.
  static CapturedFunction FromNode(const KernelContext& ctx, const char* attr, int first_captured, int end);

  // Runs the function on `args` and the captured inputs, and blocks until it returns.
  StatusOr<Element> Run(const IteratorContext& ctx, Element args) const;
  // Like Run, but does not block. `env` must live until `done` is called. For `cancellation` see RunnableFunction::Run.
  void Start(DataEnvironment* env, Element args, CancellationManager* cancellation, RunnableFunction::Done done) const;
  // Runs a function that returns one dataset, blocks until it returns, and makes an iterator over the dataset.
  StatusOr<Iterator> RunToIterator(const IteratorContext& ctx, Element args) const;
  // Runs a function that returns one bool, and blocks until it returns.
  StatusOr<bool> RunToBool(const IteratorContext& ctx, Element args) const;

 private:
  std::shared_ptr<const AttrValue::Function> function_;
  std::shared_ptr<const FunctionLibrary> library_;
  Element captured_;
};

// InvalidArgument unless `element` has as many components as `types`, of these dtypes, with compatible shapes.
Status CheckElement(const Element& element, const std::vector<DType>& types, const std::vector<Shape>& shapes);
// Checks that a dataset of `types` and `shapes` can feed an iterator of `wanted_types` and `wanted_shapes`.
// InvalidArgument names the first difference.
Status CheckSignature(const std::vector<DType>& types, const std::vector<Shape>& shapes,
                      const std::vector<DType>& wanted_types, const std::vector<Shape>& wanted_shapes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_DATASET_DATASET_H_
