// The session of Python, and the values that go into and out of steps.
#ifndef TENSORBRAID_PYTHON_BINDING_SESSION_H_
#define TENSORBRAID_PYTHON_BINDING_SESSION_H_

#include <memory>
#include <vector>

#include "binding/graph.h"
#include "binding/thread_owner.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid::python {

// A session, and the Python object of its graph, which must outlive it. Members are destroyed in reverse order. The
// session of a training loop is borrowed: the loop sets `session` to null when it ends the session.
struct PySession {
  nb::object graph;
  ThreadOwner<std::shared_ptr<Session>> session;

  // Raises ValueError if the session is closed, and FailedPreconditionError in a child of the session's process.
  Session& get() const;
};

// A PySession that does not own its session.
PySession Borrow(nb::object graph, Session& session);

// The options in a dict of tensorbraid.internal.session_config.session_options, which has the names of SessionOptions.
// Those that are missing have C++'s defaults.
SessionOptions SessionOptionsOf(nb::handle options);

// What a step fetches, feeds and connects.
struct PySignature {
  std::vector<Fetch> fetches;
  std::vector<Output> feeds;
  std::vector<TensorConnection> connections;
  nb::object graph;
};

// The options in the tuple of tensorbraid.internal.session_config.run_options.
RunOptions RunOptionsOf(nb::handle options);
// The bytes of what a run has recorded.
nb::bytes BytesOf(const RunMetadata& metadata);

// Fetches are tensors, variables and operations. Feeds are pairs of a tensor and a value, which is copied.
std::vector<Fetch> FetchesOf(nb::handle fetches);
std::vector<Feed> FeedsOf(nb::handle feeds);
// The values for the fed tensors of one step, checked as tf.Session.run does: raises TypeError or ValueError. Large
// arrays are used in place, so the tensors must not be kept beyond the step. Call ReleaseFedArrays after the step.
std::vector<Tensor> FedTensors(const std::vector<Output>& tensors, nb::handle values);
// Lets Python delete the arrays that steps no longer use.
void ReleaseFedArrays();
// The values as NumPy arrays; None for operations.
nb::list ValuesOf(std::vector<Tensor> values);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_SESSION_H_
