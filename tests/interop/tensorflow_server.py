#!/usr/bin/env python3
"""One of TensorFlow's own gRPC servers. Takes the flags of `tensorbraid serve`, so that cluster.py can start it."""
import argparse
import json
import os
import signal

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("--cluster_spec", type=json.loads)
    parser.add_argument("--job_name")
    parser.add_argument("--task_index", type=int)
    args = parser.parse_args()
    import tensorflow as tf  # pylint: disable=import-outside-toplevel

    tf1 = tf.compat.v1
    server = tf1.train.Server(args.cluster_spec, job_name=args.job_name, task_index=args.task_index,
                              config=tf1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2))
    print(f"{args.job_name}/{args.task_index} serves at {server.target}", flush=True)
    signal.signal(signal.SIGTERM, lambda *unused: os._exit(0))  # a TensorFlow server cannot be stopped otherwise
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
