// A resource that keeps an iterator over a dataset from step to step.
#ifndef TENSORBRAID_RUNTIME_DATASET_ITERATOR_RESOURCE_H_
#define TENSORBRAID_RUNTIME_DATASET_ITERATOR_RESOURCE_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/dataset/dataset.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {

// Thread-safe. Serves requests for elements in order, one at a time, on a thread that may block.
class IteratorResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "iterator";
  IteratorResource(std::string name, std::vector<DType> types, std::vector<Shape> shapes)
      : name_(std::move(name)), types_(std::move(types)), shapes_(std::move(shapes)) {}
  ~IteratorResource() override;

  const std::string& name() const { return name_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }

  // Restarts at the first element of `dataset`. A request that is being served continues with the previous dataset.
  // InvalidArgument if the elements are not of the iterator's types and shapes. `functions` and `place.resources` must
  // outlive this resource; `place.pool` need not.
  Status Start(const RefPtr<Dataset>& dataset, const FunctionRuntime* functions, FunctionRuntime::Place place);

  // Gets the next element. Calls `done` once: with the element, with nothing at the end, or with FailedPrecondition
  // before Start(). `done` is called on a thread that may block or, if the request is cancelled before its turn, on the
  // thread that cancels it (or calls this function, if it has been cancelled already). If `target` is not null, the
  // element is in the memory of its device as far as it says; errors are then also those of the device.
  using Done = std::function<void(StatusOr<std::optional<Element>>)>;
  void Next(ThreadPool* pool, CancellationManager* cancellation, Done done,
            std::shared_ptr<const ElementTarget> target = nullptr);

  // Save returns the position of the iterator and the elements that it has buffered. Restore continues at a saved
  // position. Both wait for their turn among the requests for elements, and call `done` as Next does.
  // FailedPrecondition before Start(). Restore fails with DataLoss if the state is malformed. It fails with
  // InvalidArgument if the state comes from another kind of pipeline, and then leaves the iterator as it was.
  void Save(ThreadPool* pool, CancellationManager* cancellation, std::function<void(StatusOr<std::string>)> done);
  void Restore(ThreadPool* pool, CancellationManager* cancellation, std::string saved,
               std::function<void(const Status&)> done);

  std::string DebugString() const override { return StrCat("an iterator of ", types_.size(), " components"); }

 private:
  struct State {
    std::unique_ptr<DataEnvironment> env;  // first, so that it is destroyed last
    RefPtr<Dataset> dataset;
    Iterator pull;
  };
  struct Request;
  // Serves a request on a thread that may block. Returns a function that calls `done`, which ServeOne calls at its end.
  using Serve = std::function<std::function<void()>(State* state, const IteratorContext& context)>;
  void Enqueue(ThreadPool* pool, CancellationManager* cancellation, Serve serve,
               std::function<void(const Status&)> fail);
  void ServeOne(ThreadPool* pool);

  const std::string name_;
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  Mutex mu_;
  std::shared_ptr<State> state_ TB_GUARDED_BY(mu_);
  std::deque<std::shared_ptr<Request>> requests_ TB_GUARDED_BY(mu_);
  bool serving_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_DATASET_ITERATOR_RESOURCE_H_
