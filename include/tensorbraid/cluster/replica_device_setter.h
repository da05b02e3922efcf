// Places the variables of a replica on the parameter servers and its other ops on the worker.
#ifndef TENSORBRAID_CLUSTER_REPLICA_DEVICE_SETTER_H_
#define TENSORBRAID_CLUSTER_REPLICA_DEVICE_SETTER_H_

#include <functional>
#include <string>
#include <vector>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/wire.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

struct ReplicaDeviceSetterOptions {
  ClusterSpec cluster = {};
  int ps_tasks = 0;                   // ignored if `cluster` is given
  std::string ps_device = "/job:ps";  // "": all ops are on the worker
  std::string worker_device = "/job:worker";
  // The types of ops that are placed on the parameter servers, because the servers hold their state.
  std::vector<std::string> ps_ops = {"Variable",
                                     "VariableV2",
                                     "AutoReloadVariable",
                                     "MutableHashTable",
                                     "MutableHashTableV2",
                                     "MutableHashTableOfTensors",
                                     "MutableHashTableOfTensorsV2",
                                     "MutableDenseHashTable",
                                     "MutableDenseHashTableV2",
                                     "VarHandleOp",
                                     "KvVarHandleOp",
                                     "BoostedTreesEnsembleResourceHandleOp",
                                     "BoostedTreesQuantileStreamResourceHandleOp",
                                     "ResourceConditionalAccumulator",
                                     "DecisionTreeResource"};
  // Returns the index of the parameter server for `op`, from 0 to ps_tasks - 1. Any other index is a mistake of the
  // graph (InvalidArgument), and the op is placed on server 0. Null: the parameter servers take turns.
  std::function<int(const Operation& op, int ps_tasks)> strategy = nullptr;
  // The types in which the values and gradients of the variables on the parameter servers travel between tasks.
  WireTypes wire = {};
};

// A device function, for Graph::Device, that places variables on the parameter servers and everything else on the
// worker. Source: tf.train.replica_device_setter.
DeviceFunction ReplicaDeviceSetter(ReplicaDeviceSetterOptions options);
// A strategy that places each variable on the parameter server that holds the fewest bytes so far. A growing table, or
// a part of one, counts as 1,000,000 rows.
// Source: GreedyLoadBalancingStrategy with byte_size_load_fn.
std::function<int(const Operation& op, int ps_tasks)> LeastBytesStrategy(int ps_tasks);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_REPLICA_DEVICE_SETTER_H_
