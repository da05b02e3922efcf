// Dataset::FromCallback: a GeneratorDataset whose functions call the program.
#include <map>
#include <memory>
#include <utility>

#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/dataset/element_spec.h"
#include "tensorbraid/data/dataset.h"
#include "tensorbraid/graph/host_function.h"

namespace tensorbraid::data {
namespace {

// The sources of the iterators that are in use, by the number that stands for each in the graph. Thread-safe.
class Sources {
 public:
  int64_t Add(ElementSource source) {
    MutexLock lock(mu_);
    sources_.emplace(next_, std::make_shared<ElementSource>(std::move(source)));
    return next_++;
  }
  std::shared_ptr<ElementSource> Find(int64_t number) {
    MutexLock lock(mu_);
    const auto it = sources_.find(number);
    return it == sources_.end() ? nullptr : it->second;
  }
  void Remove(int64_t number) {
    std::shared_ptr<ElementSource> removed;  // destroyed without the lock
    MutexLock lock(mu_);
    if (const auto it = sources_.find(number); it != sources_.end()) {
      removed = std::move(it->second);
      sources_.erase(it);
    }
  }

 private:
  Mutex mu_;
  int64_t next_ TB_GUARDED_BY(mu_) = 0;
  std::map<int64_t, std::shared_ptr<ElementSource>> sources_ TB_GUARDED_BY(mu_);
};

}  // namespace

Dataset Dataset::FromCallback(Graph& graph, const Specs& element,
                              std::function<StatusOr<ElementSource>(const std::vector<Tensor>& args)> begin,
                              const std::vector<Operand>& args, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  std::vector<Operand> inputs;
  for (const Operand& arg : args) inputs.emplace_back(arg.ToOutput(graph));
  const auto sources = std::make_shared<Sources>();
  const Specs number = {{kInt64, {}}};
  const auto define = [&](const char* name, const Specs& specs, const HostFunction& function,
                          const std::vector<DType>& results) {
    return DefineFunction(
        graph, name, specs,
        [&](Graph& body, const Tensors& values) {
          const Operation call = CallHostFunction(
              body, function, specs.empty() ? inputs : std::vector<Operand>(values.begin(), values.end()), results, {},
              loc);
          Tensors outputs(results.size());
          for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = call.output(static_cast<int>(i));
          return outputs;
        },
        Capture::kAsArgument, loc);
  };
  const LibraryFunction init =
      define("begin", {},
             [sources, begin = std::move(begin)](const std::vector<Tensor>& values) -> StatusOr<std::vector<Tensor>> {
               TF_ASSIGN_OR_RETURN(ElementSource source, begin(values));
               return std::vector<Tensor>{Tensor::Scalar(sources->Add(std::move(source)))};
             },
             {kInt64});
  const LibraryFunction next = define(
      "next", number,
      [sources](const std::vector<Tensor>& values) -> StatusOr<std::vector<Tensor>> {
        const auto source = sources->Find(values[0].scalar<int64_t>());
        if (source == nullptr) return Internal("the source of the elements has ended");
        TF_ASSIGN_OR_RETURN(auto tensors, (*source)());
        if (!tensors.has_value()) return OutOfRange("end of the sequence");
        return *std::move(tensors);
      },
      DTypesOf(element));
  const LibraryFunction end = define("end", number,
                                     [sources](const std::vector<Tensor>& values) -> StatusOr<std::vector<Tensor>> {
                                       sources->Remove(values[0].scalar<int64_t>());
                                       return values;
                                     },
                                     {kInt64});
  if (!init.valid() || !next.valid() || !end.valid()) return {};
  NodeBuilder builder(graph, "GeneratorDataset", loc);
  builder.InputList(init.captures()).InputList(next.captures()).InputList(end.captures());
  builder.Attr("init_func", init.attr()).Attr("next_func", next.attr()).Attr("finalize_func", end.attr());
  builder.Attr("output_types", DTypesOf(element)).Attr("output_shapes", ShapesOf(element));
  return Dataset(builder.Output(), element);
}

}  // namespace tensorbraid::data
