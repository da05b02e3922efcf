"""A wide and deep model of clicks, written in the manner of the programs that run on DeepRec.

It imports TensorFlow, and `python -m tensorbraid` runs it. TF_CONFIG describes a cluster; without it, the program trains
alone. Prints the AUC of the test lines at the end.
"""

import argparse
import json
import os
import random
import sys

import tensorflow as tf
from tensorflow.core.framework.embedding import config_pb2

COLUMNS = ["user", "item", "place", "word"]
NUMBERS = ["hour", "price"]


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_location", required=True, help="the folder of train.csv and eval.csv")
    parser.add_argument("--checkpoint", default="")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--batch_size", type=int, default=128)
    parser.add_argument("--ev", action="store_true", help="use growing tables")
    parser.add_argument("--ev_filter", choices=["counter", "cbf"])
    parser.add_argument("--ev_elimination", choices=["l2", "gstep"])
    parser.add_argument("--optimizer", default="adagrad",
                        choices=["adagrad", "adam", "adamasync", "adagraddecay", "sgd", "momentum", "ftrl"])
    parser.add_argument("--smartstaged", action="store_true")
    parser.add_argument("--micro_batch", type=int, default=0)
    parser.add_argument("--save_steps", type=int, default=60)
    parser.add_argument("--incremental_ckpt", type=float, help="seconds between two increments")
    parser.add_argument("--tell_steps", action="store_true", help="print each global step")
    return parser.parse_args()


def write_data(folder, lines=4000):
    """Makes the files. A third of the users and a third of the items are liked."""
    draw = random.Random(1)
    for name in ("train", "eval"):
        with open(os.path.join(folder, name + ".csv"), "w") as file:
            for _ in range(lines):
                user, item = int(200 * draw.random() ** 2), int(100 * draw.random() ** 2)
                likely = 0.1 + 0.4 * (user % 3 == 0) + 0.4 * (item % 3 == 1)
                file.write("%d,%d,%d,%d,w%d,%.3f,%.2f\n" % (draw.random() < likely, user, item, draw.randrange(10),
                                                            draw.randrange(500), draw.random(), draw.expovariate(0.1)))


def build_input(path, batch_size, epochs):
    defaults = [[0.0]] + [[""]] * len(COLUMNS) + [[0.0]] * len(NUMBERS)

    def parse(lines):
        label, *values = tf.io.decode_csv(lines, defaults)
        return dict(zip(COLUMNS + NUMBERS, values)), label

    lines = tf.data.TextLineDataset(path).shuffle(1000, seed=2021).repeat(epochs).batch(batch_size, drop_remainder=True)
    return lines.map(parse, num_parallel_calls=2).prefetch(2)


def table_option(args):
    ev_filter = {"counter": lambda: tf.CounterFilter(filter_freq=2),
                 "cbf": lambda: tf.CBFFilter(filter_freq=2, max_element_size=2**16, false_positive_probability=0.01,
                                             counter_type=tf.int64)}.get(args.ev_filter, lambda: None)()
    evict = {"gstep": lambda: tf.GlobalStepEvict(steps_to_live=40),
             "l2": lambda: tf.L2WeightEvict(l2_weight_threshold=1e-7)}.get(args.ev_elimination, lambda: None)()
    return tf.EmbeddingVariableOption(storage_option=tf.StorageOption(storage_type=config_pb2.StorageType.DRAM),
                                      filter_option=ev_filter, evict_option=evict)


def build_columns(args):
    # Prices reach 100. As they are, one step of plain descent could end the training, with all scores 0.
    deep, wide = [tf.feature_column.numeric_column(name, normalizer_fn=tf.math.log1p) for name in NUMBERS], []
    for name in COLUMNS:
        if args.ev:
            keys = tf.feature_column.categorical_column_with_embedding(name, dtype=tf.string, ev_option=table_option(args))
        else:
            keys = tf.feature_column.categorical_column_with_hash_bucket(name, hash_bucket_size=1000)
        deep.append(tf.feature_column.embedding_column(keys, dimension=8, combiner="mean"))
        wide.append(tf.feature_column.embedding_column(keys, dimension=1, combiner="mean"))
    return deep, wide


class Wdl:
    def __init__(self, args, features, labels, deep, wide, partitioner):
        with tf.variable_scope("deep"):
            with tf.variable_scope("input", partitioner=partitioner):
                x = tf.feature_column.input_layer(features, deep)
            for i, units in enumerate((32, 16)):
                x = tf.layers.dense(x, units, activation=tf.nn.relu, name="hidden_%d" % i)
            x = tf.layers.dense(x, 1, name="logits")
        with tf.variable_scope("linear", partitioner=partitioner):
            linear = tf.reduce_sum(tf.feature_column.input_layer(features, wide), 1, keepdims=True)
        self.scores = tf.sigmoid(tf.squeeze(x + linear, 1))
        self.loss = tf.reduce_mean(tf.losses.log_loss(labels, self.scores))
        self.auc, self.auc_op = tf.metrics.auc(labels=labels, predictions=self.scores, num_thresholds=1000)
        tf.summary.scalar("loss", self.loss)
        self.step = tf.train.get_or_create_global_step()
        # Gradients are means over a batch in which a key is seldom, so the sums of squares begin near 0.
        least = {"initial_accumulator_value": 1e-6}
        optimizer = {"adagrad": lambda: tf.train.AdagradOptimizer(0.1, **least),
                     "adam": lambda: tf.train.AdamOptimizer(0.02), "adamasync": lambda: tf.train.AdamAsyncOptimizer(0.02),
                     "adagraddecay": lambda: tf.train.AdagradDecayOptimizer(0.1, global_step=self.step, **least),
                     "sgd": lambda: tf.train.GradientDescentOptimizer(2.0),
                     "momentum": lambda: tf.train.MomentumOptimizer(0.5, 0.9),
                     "ftrl": lambda: tf.train.FtrlOptimizer(0.1, **least)}[args.optimizer]()
        self.train_op = optimizer.minimize(self.loss, global_step=self.step)


def session_config(args, tf_config):
    config = tf.ConfigProto(allow_soft_placement=True)
    if tf_config:
        task = tf_config["task"]
        config.device_filters.append("/job:ps")
        config.device_filters.append("/job:%s/task:%d" % (task["type"], task["index"]))
    config.inter_op_parallelism_threads = config.intra_op_parallelism_threads = 2
    config.graph_options.optimizer_options.do_smart_stage = args.smartstaged
    if args.micro_batch:
        config.graph_options.optimizer_options.micro_batch_num = args.micro_batch
    return config


def main(args, tf_config, server):
    is_chief = not tf_config or tf_config["task"]["type"] == "chief"
    servers = len(tf_config["cluster"]["ps"]) if tf_config else 0
    device = tf.train.replica_device_setter(
        worker_device="/job:%s/task:%d" % (tf_config["task"]["type"], tf_config["task"]["index"]),
        cluster=server.server_def.cluster) if tf_config else None
    tf.set_random_seed(2021)
    with tf.device(device):
        train, test = (build_input(os.path.join(args.data_location, name + ".csv"), args.batch_size, epochs)
                       for name, epochs in (("train", None), ("eval", None)))
        iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
        batch = iterator.get_next()
        to_train, to_test = iterator.make_initializer(train), iterator.make_initializer(test)
        if args.smartstaged:
            batch = tf.staged(batch, num_threads=2, capacity=4)
        partitioner = tf.min_max_variable_partitioner(max_partitions=servers, min_slice_size=8) if servers else None
        model = Wdl(args, *batch, *build_columns(args), partitioner)
        hooks = [tf.train.StopAtStepHook(last_step=args.steps), tf.train.NanTensorHook(model.loss),
                 tf.train.LoggingTensorHook({"steps": model.step, "loss": model.loss}, every_n_iter=50)]
        if args.smartstaged:
            hooks.append(tf.make_prefetch_hook())
        scaffold = tf.train.Scaffold(
            local_init_op=tf.group(tf.tables_initializer(), tf.local_variables_initializer(), to_train),
            saver=tf.train.Saver(max_to_keep=2, sharded=True))
        more = {} if args.incremental_ckpt is None else {"save_incremental_checkpoint_secs": args.incremental_ckpt}
        with tf.train.MonitoredTrainingSession(
                master=server.target if server else "", is_chief=is_chief, hooks=hooks, scaffold=scaffold,
                checkpoint_dir=args.checkpoint or None, save_checkpoint_steps=args.save_steps, save_checkpoint_secs=None,
                save_summaries_steps=50, summary_dir=args.checkpoint or None,
                config=session_config(args, tf_config), **more) as session:
            while not session.should_stop():
                _, step = session.run([model.train_op, model.step])
                if args.tell_steps:
                    print("step", step, flush=True)
        if is_chief:
            # As the other workers end, the chief tests with the variables of the training.
            with tf.Session(server.target if server else "", config=session_config(args, tf_config)) as session:
                if not server:
                    scaffold.saver.restore(session, tf.train.latest_checkpoint(args.checkpoint))
                session.run([tf.local_variables_initializer(), to_test])
                if args.smartstaged:
                    tf.train.start_queue_runners(session)
                for _ in range(20):
                    session.run(model.auc_op)
                print("auc %.4f" % session.run(model.auc), flush=True)


if __name__ == "__main__":
    arguments = parse_arguments()
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    local_server = None
    if config:
        local_server = tf.train.Server(tf.train.ClusterSpec(config["cluster"]), job_name=config["task"]["type"],
                                       task_index=config["task"]["index"])
        if config["task"]["type"] == "ps":
            local_server.join()
            sys.exit()
    if not os.path.exists(os.path.join(arguments.data_location, "eval.csv")):
        write_data(arguments.data_location)
    main(arguments, config, local_server)
