// Datasets that keep the elements of their input, in memory or in a file.
#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The elements of the input, from the first complete pass over it.
struct Cache {
  Mutex mu;
  std::shared_ptr<const std::vector<Element>> elements TB_GUARDED_BY(mu);  // null until a pass is complete
};

Status CacheInMemory(KernelContext& ctx, const RefPtr<Dataset>& input) {
  struct State {
    Iterator pull;                                  // the input; used while filling the cache
    std::shared_ptr<std::vector<Element>> filling;  // null while reading from the cache
    std::shared_ptr<const std::vector<Element>> elements;
    size_t next = 0;
  };
  return EmitDataset(
      ctx, {input},
      [input, cache = std::make_shared<Cache>()](const IteratorContext& c) -> StatusOr<Iterator> {
        State state;
        {
          MutexLock lock(cache->mu);
          state.elements = cache->elements;
        }
        if (state.elements == nullptr) {
          TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
          state.filling = std::make_shared<std::vector<Element>>();
        }
        return MakeStateful(
            std::move(state),
            [cache](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
              if (s.filling == nullptr) {
                if (s.elements == nullptr || s.next >= s.elements->size()) return false;
                *out = (*s.elements)[s.next++];
                return true;
              }
              TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
              if (more) {
                s.filling->push_back(*out);
                return true;
              }
              MutexLock lock(cache->mu);
              if (cache->elements == nullptr) cache->elements = std::move(s.filling);
              s.filling = nullptr;
              return false;
            },
            // Saves or restores the state: each call of `state(...)` saves its arguments, or sets them to what was
            // saved.
            [input, cache](State& s, IteratorState& state) {
              bool fills = s.filling != nullptr;
              bool reads = s.elements != nullptr;
              state(fills, reads, s.next);
              std::vector<Element> elements;
              if (fills && s.filling != nullptr) elements = *s.filling;
              if (reads && s.elements != nullptr) elements = *s.elements;
              state(elements);
              if (!fills) s.pull = nullptr;
              state.Reopen(s.pull, [&] { return input->MakeIterator(state.context()); });
              if (!state.restores() || !state.status().ok()) return;
              s.filling = nullptr;
              s.elements = nullptr;
              auto restored = std::make_shared<std::vector<Element>>(std::move(elements));
              if (fills) s.filling = restored;
              if (!reads) return;
              s.elements = restored;
              MutexLock lock(cache->mu);
              if (cache->elements == nullptr) cache->elements = std::move(restored);
            });
      },
      input->cardinality());
}

// The names of the tensors in a cache file: the number of elements, and component `c` of element `i`.
constexpr const char* kCachedElements = "elements";
std::string CachedName(int64_t i, size_t c) { return StrCat(i, "/", c); }

// Writes the elements of the first complete pass over the input to a file, or reads them from it. The file appears only
// when it is complete.
class FileCache {
 public:
  FileCache(RefPtr<Dataset> input, std::string file, size_t components)
      : input_(std::move(input)), file_(std::move(file)), components_(components) {}

  Status Open(const IteratorContext& ctx) {
    auto reader = BundleReader::Open(file_);
    if (reader.ok()) {
      reader_ = *std::move(reader);
      TF_ASSIGN_OR_RETURN(const Tensor elements, reader_->Read(kCachedElements));
      if (elements.dtype() != kInt64 || elements.num_elements() != 1) {
        return DataLoss("'", file_, "' is not the cache of a dataset");
      }
      size_ = elements.data<int64_t>()[0];
      return OkStatus();
    }
    if (!absl::IsNotFound(reader.status())) return reader.status();
    TF_ASSIGN_OR_RETURN(writer_, BundleWriter::Create(file_));
    TF_ASSIGN_OR_RETURN(pull_, input_->MakeIterator(ctx));
    return OkStatus();
  }

  StatusOr<bool> Next(const IteratorContext& ctx, Element* out) {
    if (reader_ != nullptr) {
      if (next_ >= size_) return false;
      out->clear();
      for (size_t c = 0; c < components_; ++c) {
        TF_ASSIGN_OR_RETURN(Tensor t, reader_->Read(CachedName(next_, c)));
        out->push_back(std::move(t));
      }
      ++next_;
      return true;
    }
    if (pull_ == nullptr) return false;
    TF_ASSIGN_OR_RETURN(const bool more, pull_(ctx, out));
    if (more) {
      for (size_t c = 0; writer_ != nullptr && c < out->size(); ++c) {
        TF_RETURN_IF_ERROR(writer_->Add(CachedName(next_, c), (*out)[c]));
      }
      ++next_;
      return true;
    }
    pull_ = nullptr;
    if (writer_ == nullptr) return false;
    TF_RETURN_IF_ERROR(writer_->Add(kCachedElements, Tensor::Scalar(next_)));
    TF_RETURN_IF_ERROR(std::exchange(writer_, nullptr)->Finish());
    return false;
  }

  // Saves or restores the state. If an iterator was saved while it wrote the file, the restored iterator reads the rest
  // of the input without writing.
  void Visit(IteratorState& state) {
    bool reads = reader_ != nullptr;
    state(reads, next_);
    if (state.restores() && state.status().ok()) {
      writer_ = nullptr;
      if (reads && reader_ == nullptr) return state.Fail(NotFound("the cache '", file_, "' does not exist any more"));
      if (!reads) reader_ = nullptr;
    }
    state.Reopen(pull_, [&] { return input_->MakeIterator(state.context()); });
  }

 private:
  const RefPtr<Dataset> input_;
  const std::string file_;
  const size_t components_;
  std::unique_ptr<BundleReader> reader_;  // null while the input is read
  std::unique_ptr<BundleWriter> writer_;
  Iterator pull_;
  int64_t next_ = 0;
  int64_t size_ = 0;  // the number of elements in the file that is read
};

Status CacheInFile(KernelContext& ctx, const RefPtr<Dataset>& input, const std::string& file) {
  using CachePtr = std::shared_ptr<FileCache>;
  return EmitDataset(
      ctx, {input},
      [input, file, components = input->types().size()](const IteratorContext& c) -> StatusOr<Iterator> {
        auto cache = std::make_shared<FileCache>(input, file, components);
        TF_RETURN_IF_ERROR(cache->Open(c));
        return MakeStateful(
            std::move(cache),
            [](CachePtr& cache, const IteratorContext& c, Element* out) { return cache->Next(c, out); },
            [](CachePtr& cache, IteratorState& state) { cache->Visit(state); });
      },
      input->cardinality());
}

Status CacheDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const std::string file, StringInput(ctx, 1, "filename"));
  return file.empty() ? CacheInMemory(ctx, input) : CacheInFile(ctx, input, file);
}

}  // namespace

void RegisterDatasetCacheKernels(KernelRegistry& r) {
  r.Add("CacheDataset", {}, CacheDataset);
  r.Add("CacheDatasetV2", {}, CacheDataset);
}

}  // namespace tensorbraid::cpu
