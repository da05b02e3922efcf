#include "binding/hooks.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>

#include "core/text/logging.h"
#include "tensorbraid/train/file_writer.h"

namespace tensorbraid::python {
namespace {

// Calls the methods of a hook of Python.
class PyHook final : public SessionRunHook {
 public:
  PyHook(nb::object hook, std::shared_ptr<Training> training)
      : hook_(std::move(hook)), training_(std::move(training)) {}
  ~PyHook() override {
    nb::gil_scoped_acquire locked;
    restore_.reset();
    hook_.reset();
    training_.reset();
  }

  Status Begin(Graph&) override {
    nb::gil_scoped_acquire locked;
    return training_->Guard([&] { hook_.attr("begin")(); });
  }

  Status AfterCreateSession(SessionRunContext& context) override {
    nb::gil_scoped_acquire locked;
    return training_->Guard([&] {
      training_->Meet(context.session(), context.coordinator());
      hook_.attr("after_create_session")(training_->session(), training_->coordinator());
    });
  }

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    nb::gil_scoped_acquire locked;
    SessionRunArgs args;
    restore_ = nb::none();
    const Status status = training_->Guard([&] {
      training_->Meet(context.session(), context.coordinator());
      const nb::object wanted = hook_.attr("before_run")(training_->run_context);
      if (wanted.is_none()) return;
      const nb::object flat =
          nb::module_::import_("tensorbraid.train.hooks").attr("_flatten")(wanted, training_->graph());
      args.fetches = FetchesOf(flat[0]);
      args.feeds = FeedsOf(flat[1]);
      restore_ = flat[2];
      args.options = RunOptionsOf(flat[3]);
    });
    if (!status.ok()) context.coordinator().RequestStop(status);
    return args;
  }

  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    nb::gil_scoped_acquire locked;
    return training_->Guard([&] {
      const nb::object results = restore_.is_none() ? nb::none() : restore_(ValuesOf(values.results));
      const RunOptions& options = values.options;
      const nb::tuple made_with = nb::make_tuple(options.timeout.count(), options.trace_level != TraceLevel::kNone,
                                                 options.output_partition_graphs);
      const nb::object metadata = values.metadata == nullptr ? nb::none() : nb::object(BytesOf(*values.metadata));
      hook_.attr("after_run")(
          training_->run_context,
          nb::module_::import_("tensorbraid.train.hooks").attr("_values")(results, made_with, metadata));
      if (nb::cast<bool>(training_->run_context.attr("stop_requested"))) context.RequestStop();
    });
  }

  Status End(SessionRunContext& context, const Status& status) override {
    if (!status.ok()) return OkStatus();
    nb::gil_scoped_acquire locked;
    return training_->Guard([&] {
      training_->Meet(context.session(), context.coordinator());
      hook_.attr("end")(training_->session());
    });
  }

 private:
  nb::object hook_;
  std::shared_ptr<Training> training_;
  nb::object restore_ = nb::none();  // gives the results the structure that the hook's fetches have
};

// Raises NanLossDuringTrainingError where NanCheck fails. The C++ session sees the error of NanCheck.
class NanHook final : public SessionRunHook {
 public:
  explicit NanHook(std::shared_ptr<SessionRunHook> check) : check_(std::move(check)) {}
  SessionRunArgs BeforeRun(SessionRunContext& context) override { return check_->BeforeRun(context); }
  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    const Status status = check_->AfterRun(context, values);
    if (!status.ok() && training_ != nullptr) {
      nb::gil_scoped_acquire locked;
      return training_->Guard([&] {
        const nb::object type = nb::module_::import_("tensorbraid.train.hooks").attr("NanLossDuringTrainingError");
        PyErr_SetObject(type.ptr(), nb::str(std::string(status.message()).c_str()).ptr());
        throw nb::python_error();
      });
    }
    return status;
  }
  void Join(std::shared_ptr<Training> training) { training_ = std::move(training); }

 private:
  const std::shared_ptr<SessionRunHook> check_;
  std::shared_ptr<Training> training_;
};

// A CheckpointSaver that tells tf.train.CheckpointSaverListeners of each save.
class ListeningSaver final : public SessionRunHook {
 public:
  ListeningSaver(nb::list listeners, CheckpointSaverOptions options, const std::string& directory)
      : listeners_(Shared(std::move(listeners))) {
    options.before_save = [this](SessionRunContext& context, int64_t step) {
      return Tell(context, "before_save", step);
    };
    options.after_save = [this](SessionRunContext& context, int64_t step) { return Tell(context, "after_save", step); };
    saver_ = CheckpointSaver(directory, std::move(options));
  }

  Status Begin(Graph& graph) override {
    {
      nb::gil_scoped_acquire locked;
      TF_RETURN_IF_ERROR(training_->Guard([&] {
        for (const nb::handle listener : *listeners_) listener.attr("begin")();
      }));
    }
    TF_RETURN_IF_ERROR(saver_->Begin(graph));
    global_step_ = GetGlobalStep(graph);
    return OkStatus();
  }
  Status AfterCreateSession(SessionRunContext& context) override { return saver_->AfterCreateSession(context); }
  SessionRunArgs BeforeRun(SessionRunContext& context) override { return saver_->BeforeRun(context); }
  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    return saver_->AfterRun(context, values);
  }
  Status End(SessionRunContext& context, const Status& status) override {
    TF_RETURN_IF_ERROR(saver_->End(context, status));
    if (!status.ok()) return OkStatus();
    TF_ASSIGN_OR_RETURN(const auto value, context.session().Run({global_step_}));
    return Tell(context, "end", value[0].dtype() == kInt64 ? value[0].scalar<int64_t>() : value[0].scalar<int32_t>());
  }
  void Join(std::shared_ptr<Training> training) { training_ = std::move(training); }

 private:
  // Calls the method of each listener. If one returns True, the training ends.
  Status Tell(SessionRunContext& context, const char* method, int64_t step) {
    nb::gil_scoped_acquire locked;
    return training_->Guard([&] {
      training_->Meet(context.session(), context.coordinator());
      bool stop = false;
      for (const nb::handle listener : *listeners_) {
        const nb::object answer = listener.attr(method)(training_->session(), step);
        stop = stop || PyObject_IsTrue(answer.ptr()) == 1;
      }
      if (stop) context.RequestStop();
    });
  }

  const std::shared_ptr<nb::object> listeners_;
  std::shared_ptr<SessionRunHook> saver_;
  std::shared_ptr<Training> training_;
  Variable global_step_;
};

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

std::optional<int64_t> StepsOf(nb::handle value) {
  return value.is_none() ? std::nullopt : Converted("a number of steps must be an integer", value, [value] {
    return std::optional(nb::cast<int64_t>(value));
  });
}
std::optional<std::chrono::milliseconds> TimeOf(nb::handle value) {
  return value.is_none() ? std::nullopt : Converted("a time must be a number of seconds", value, [value] {
    return std::optional(Milliseconds(nb::cast<double>(value)));
  });
}

std::shared_ptr<SessionRunHook> MakeLoggingHook(nb::list named, int64_t every_n_steps, double every_seconds,
                                                bool at_end, nb::object format) {
  std::vector<std::pair<std::string, Output>> tensors;
  for (const nb::handle pair : named) {
    tensors.emplace_back(nb::cast<std::string>(pair[0]), FetchesOf(nb::make_tuple(pair[1]))[0].output());
  }
  LoggingOptions options = {.every_n_steps = every_n_steps, .every = Milliseconds(every_seconds), .at_end = at_end};
  options.format = [format = Shared(std::move(format))](const auto& values) -> StatusOr<std::string> {
    nb::gil_scoped_acquire locked;
    try {
      nb::list arrays;
      for (const auto& [name, value] : values) arrays.append(ArrayOf(value));
      return nb::cast<std::string>((*format)(arrays));
    } catch (nb::python_error& error) {
      return StatusOf(error.value());
    }
  };
  return LoggingHook(std::move(tensors), std::move(options));
}

}  // namespace

std::shared_ptr<Training> Training::Make(nb::object graph) {
  return std::shared_ptr<Training>(new Training(std::move(graph)), [](Training* training) {
    nb::gil_scoped_acquire locked;
    delete training;
  });
}

void Training::Meet(Session& session, Coordinator& coordinator) {
  if (&session == met_) return;
  const nb::object present_run = run_context;
  End();
  run_context = present_run;
  met_ = &session;
  core_session_ = nb::cast(Borrow(graph_, session));
  session_ = nb::module_::import_("tensorbraid.internal.session").attr("Session").attr("_wrap")(core_session_);
  auto lent = std::make_unique<PyCoordinator>(coordinator);
  core_coordinator_ = nb::cast(lent.release(), nb::rv_policy::take_ownership);
  coordinator_ =
      nb::module_::import_("tensorbraid.train.coordinator").attr("Coordinator").attr("_wrap")(core_coordinator_);
}

void Training::End() {
  if (core_session_.is_valid()) nb::cast<PySession&>(core_session_).session.reset();
  if (core_coordinator_.is_valid()) nb::cast<PyCoordinator&>(core_coordinator_).coordinator.reset();
  core_session_.reset();
  core_coordinator_.reset();
  session_ = nb::none();
  coordinator_ = nb::none();
  run_context = nb::none();  // refers to the objects of Python that own this one
  met_ = nullptr;
}

Status Training::Keep(nb::python_error& error) {
  const Status status = StatusOf(error.value());
  if (!error_.has_value()) error_.emplace(std::move(error));
  // A hook that meets the end of the input ends the training with this error.
  return absl::IsOutOfRange(status) ? Status(absl::StatusCode::kUnknown, status.message()) : status;
}

void Training::Rethrow() {
  if (!error_.has_value()) return;
  nb::python_error error = std::move(*error_);
  error_.reset();
  throw error;
}

std::vector<std::shared_ptr<SessionRunHook>> HooksOf(nb::handle hooks, const std::shared_ptr<Training>& training) {
  std::vector<std::shared_ptr<SessionRunHook>> list;
  for (const nb::handle hook : hooks) {
    if (!nb::isinstance<SessionRunHook>(hook)) {
      list.push_back(std::make_shared<PyHook>(nb::borrow(hook), training));
      continue;
    }
    list.push_back(nb::cast<std::shared_ptr<SessionRunHook>>(hook));
    if (auto* const nan = dynamic_cast<NanHook*>(list.back().get())) nan->Join(training);
    if (auto* const saver = dynamic_cast<ListeningSaver*>(list.back().get())) saver->Join(training);
  }
  return list;
}

std::function<StatusOr<bool>(Session&)> SessionPredicate(nb::object function, std::shared_ptr<Training> training) {
  if (function.is_none()) return nullptr;
  return [function = Shared(std::move(function)), training = std::move(training)](Session& session) -> StatusOr<bool> {
    nb::gil_scoped_acquire locked;
    const nb::object core = nb::cast(Borrow(training->graph(), session));
    bool result = false;
    const Status status = training->Guard([&] {
      const nb::object session_class = nb::module_::import_("tensorbraid.internal.session").attr("Session");
      result = (*function)(session_class.attr("_wrap")(core)).ptr() == Py_True;
    });
    nb::cast<PySession&>(core).session.reset();
    TF_RETURN_IF_ERROR(status);
    return result;
  };
}

std::function<Status(Session&)> SessionFunction(nb::object function, std::shared_ptr<Training> training) {
  const auto call = SessionPredicate(std::move(function), std::move(training));
  if (call == nullptr) return nullptr;
  return [call](Session& session) { return call(session).status(); };
}

void BindHooks(Module& m) {
  Class<SessionRunHook>(m, "NativeHook");
  m.def("stop_at_step", &StopAtStep);
  m.def("stop_after_steps", &StopAfterSteps);
  m.def("wait_for_step", &WaitForStep);
  m.def("logging_hook", &MakeLoggingHook, nb::arg("tensors"), nb::arg("every_n_steps"), nb::arg("every_seconds"),
        nb::arg("at_end"), nb::arg("format"));
  m.def("nan_check", [](const PyTensor& loss, bool stop_only) -> std::shared_ptr<SessionRunHook> {
    return std::make_shared<NanHook>(NanCheck(loss.output, {.stop_only = stop_only}));
  });
  m.def(
      "step_counter",
      [](int64_t every_n_steps, double every_seconds, std::shared_ptr<summary::FileWriter> writer) {
        // Like TensorFlow's hook, this one logs the rate even if it has no writer.
        const auto log = [](int64_t, double rate) {
          char text[32];
          std::snprintf(text, sizeof text, "%g", rate);
          TB_LOG(Info, "train") << "global_step/sec: " << text;
        };
        return StepCounter({.every_n_steps = every_n_steps,
                            .every = Milliseconds(every_seconds),
                            .sink = log,
                            .writer = std::move(writer)});
      },
      nb::arg("every_n_steps"), nb::arg("every_seconds"), nb::arg("writer").none());
  m.def(
      "summary_saver",
      [](nb::handle every_n_steps, nb::handle every_seconds, nb::handle summary,
         std::shared_ptr<summary::FileWriter> writer) {
        return SummarySaver("", {.every_n_steps = StepsOf(every_n_steps),
                                 .every = TimeOf(every_seconds),
                                 .summary_op = nb::cast<PyTensor&>(summary).output,
                                 .writer = std::move(writer)});
      },
      nb::arg("every_n_steps").none(), nb::arg("every_seconds").none(), nb::arg("summary"), nb::arg("writer"));
  m.def(
      "profiler_hook",
      [](nb::handle every_n_steps, nb::handle every_seconds, std::string directory, bool dataflow, bool memory) {
        return ProfilerHook(std::move(directory), {.every_n_steps = StepsOf(every_n_steps),
                                                   .every = TimeOf(every_seconds),
                                                   .trace = {.show_dataflow = dataflow, .show_memory = memory}});
      },
      nb::arg("every_n_steps").none(), nb::arg("every_seconds").none(), nb::arg("directory"), nb::arg("dataflow"),
      nb::arg("memory"));
  m.def(
      "checkpoint_saver",
      [](const std::string& directory, nb::handle every_n_steps, nb::handle every_seconds, std::shared_ptr<Saver> saver,
         const std::string& basename, bool write_meta_graph, nb::list listeners,
         nb::handle increment_seconds) -> std::shared_ptr<SessionRunHook> {
        CheckpointSaverOptions options = {.every_n_steps = StepsOf(every_n_steps),
                                          .every = TimeOf(every_seconds),
                                          .increment_every = TimeOf(increment_seconds),
                                          .saver = std::move(saver),
                                          .basename = basename,
                                          .write_meta_graph = write_meta_graph};
        if (listeners.size() == 0) return CheckpointSaver(directory, std::move(options));
        return std::make_shared<ListeningSaver>(std::move(listeners), std::move(options), directory);
      },
      nb::arg("directory"), nb::arg("every_n_steps").none(), nb::arg("every_seconds").none(), nb::arg("saver"),
      nb::arg("basename"), nb::arg("write_meta_graph"), nb::arg("listeners"), nb::arg("increment_seconds").none());
}

}  // namespace tensorbraid::python
