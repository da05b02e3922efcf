// Datasets and what iterates over them.
//
// A dataset is a value in a variant tensor: how to make iterators. An iterator is pulled, one element at a time, on a
// thread that may wait (ThreadPool::ScheduleBlocking); it runs functions by the task's executor.
#ifndef TENSORBRAID_RUNTIME_DATASET_H_
#define TENSORBRAID_RUNTIME_DATASET_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/strings.h"
#include "core/variant.h"
#include "runtime/function_runtime.h"
#include "runtime/kernel.h"

namespace tensorbraid {

using Element = std::vector<Tensor>;

// What the iterators under one root share: where functions run, and what works in the background. Thread-safe.
class DataEnvironment {
 public:
  DataEnvironment(const FunctionRuntime* functions, FunctionRuntime::Place place);
  // Cancels what works in the background and waits for it.
  ~DataEnvironment();
  DataEnvironment(const DataEnvironment&) = delete;
  DataEnvironment& operator=(const DataEnvironment&) = delete;

  // Made once for each function and library, so that its state goes on from element to element.
  StatusOr<std::shared_ptr<RunnableFunction>> Instantiate(const AttrValue::Function& function,
                                                          const std::shared_ptr<const FunctionLibrary>& library);
  const FunctionRuntime::Place& place() const { return place_; }

  // Runs `work` on a thread that may wait. What it waits for it registers with cancellation(). False, and nothing is
  // run, when that has been cancelled.
  bool RunInBackground(std::function<void()> work);
  CancellationManager* cancellation() { return &cancellation_; }
  // Says that nothing more is wanted.
  void Cancel();

 private:
  const FunctionRuntime* const functions_;
  const FunctionRuntime::Place place_;
  CancellationManager cancellation_;
  Mutex mu_;
  CondVar idle_;
  uint64_t on_stop_ TB_GUARDED_BY(mu_) = 0;  // 0: the pool is ending
  int running_ TB_GUARDED_BY(mu_) = 0;
  std::map<std::pair<const FunctionLibrary*, std::string>, std::shared_ptr<RunnableFunction>> instances_
      TB_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<const FunctionLibrary>> libraries_ TB_GUARDED_BY(mu_);  // whose addresses are keys
};

// Of one pull.
struct IteratorContext {
  DataEnvironment* env = nullptr;               // outlives every iterator made with it
  CancellationManager* cancellation = nullptr;  // of who waits for the element
  int depth = 0;                                // datasets that functions made, one within the other
};

// Sets *out to the next element; false at the end, and whenever it is asked again. One thread at a time. May wait;
// ends with Cancelled or the like when the context's cancellation says so.
using Iterator = std::function<StatusOr<bool>(const IteratorContext& ctx, Element* out)>;

// Immutable.
class Dataset final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "dataset";
  using Make = std::function<StatusOr<Iterator>(const IteratorContext& ctx)>;
  static constexpr int64_t kInfinite = -1;
  static constexpr int64_t kUnknown = -2;

  // InvalidArgument when datasets are stacked so high that iterating would exhaust a thread's stack.
  static StatusOr<RefPtr<Dataset>> Create(std::string name, std::vector<DType> types, std::vector<Shape> shapes,
                                          const std::vector<RefPtr<Dataset>>& inputs, Make make,
                                          int64_t cardinality = kUnknown);

  StatusOr<Iterator> MakeIterator(const IteratorContext& ctx) const { return make_(ctx); }
  const std::string& name() const { return name_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  // Number of elements, kInfinite or kUnknown.
  int64_t cardinality() const { return cardinality_; }
  std::string DebugString() const override { return StrCat("a ", name_); }

 private:
  template <typename T, typename... Args>
  friend RefPtr<T> MakeRef(Args&&... args);
  Dataset(std::string name, std::vector<DType> types, std::vector<Shape> shapes, Make make, int64_t cardinality,
          int depth)
      : name_(std::move(name)),
        types_(std::move(types)),
        shapes_(std::move(shapes)),
        make_(std::move(make)),
        cardinality_(cardinality),
        depth_(depth) {}

  const std::string name_;
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  const Make make_;
  const int64_t cardinality_;
  const int depth_;
};

// A function with the tensors that it was given besides the elements. Copies are cheap enough for iterators.
class CapturedFunction {
 public:
  CapturedFunction() = default;
  // The function that attribute `attr` of the kernel's node names; inputs [first_captured, end) are captured.
  static CapturedFunction FromNode(const KernelContext& ctx, const char* attr, int first_captured, int end);

  // Waits for the result of the function on `args` and what was captured.
  StatusOr<Element> Run(const IteratorContext& ctx, Element args) const;
  // The same without waiting. `cancellation` as in RunnableFunction::Run; the environment must live until then.
  void Start(DataEnvironment* env, Element args, CancellationManager* cancellation, RunnableFunction::Done done) const;
  // Waits for a function that gives one dataset, and makes an iterator over it.
  StatusOr<Iterator> RunToIterator(const IteratorContext& ctx, Element args) const;
  // Waits for a function that gives one bool.
  StatusOr<bool> RunToBool(const IteratorContext& ctx, Element args) const;

 private:
  std::shared_ptr<const AttrValue::Function> function_;
  std::shared_ptr<const FunctionLibrary> library_;
  Element captured_;
};

// InvalidArgument unless there are as many as declared, of these dtypes and shapes that fit.
Status CheckElement(const Element& element, const std::vector<DType>& types, const std::vector<Shape>& shapes);
// Whether two signatures can be those of one dataset and iterator. InvalidArgument says how they differ.
Status CheckSignature(const std::vector<DType>& types, const std::vector<Shape>& shapes,
                      const std::vector<DType>& wanted_types, const std::vector<Shape>& wanted_shapes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_DATASET_H_
