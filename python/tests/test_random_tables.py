"""Growing tables under random updates, evictions, saves, increments and restores, against a dictionary."""

import copy
import os
import random
import tempfile
import unittest

import numpy as np

import tensorbraid as tf

DIM, INITIAL, NO_PERMISSION = 2, 0.25, -7.0
KEYS = sorted({key * factor for key in range(-7, 9) for factor in (1, 999_999_937)})
SPARED_STEPS = 100


class Settings:
    """What all trainings of one run have in common."""

    def __init__(self, rng, kind):
        self.kind = kind
        self.filter_freq = 0 if kind == "size" else rng.choice([0, 0, 1, 2, 3])
        self.bloom = self.filter_freq > 0 and rng.random() < 0.5
        self.steps_to_live = rng.randrange(10, 60)
        self.threshold = rng.choice([0.5, 4.0])
        self.max_rows = rng.randrange(9, 16)  # few enough that none go below the limit
        self.momentum = rng.random() < 0.5  # the rule has a slot

    def option(self):
        evict = {"steps": tf.GlobalStepEvict(self.steps_to_live), "norm": tf.L2WeightEvict(self.threshold),
                 "size": tf.SizeEvict(max_rows=self.max_rows)}.get(self.kind)
        rule = tf.CounterFilter(self.filter_freq) if self.filter_freq else None
        if self.bloom:
            rule = tf.CBFFilter(self.filter_freq, 100_000, 1e-7)  # so large that no two keys share all counters
        return tf.EmbeddingVariableOption(evict_option=evict, filter_option=rule,
                                          init_option=tf.InitializerOption(default_value_no_permission=NO_PERMISSION))

    def optimizer(self):
        """A rule whose numbers are exact: multiples of 0.25."""
        return tf.train.MomentumOptimizer(0.5, 1.0) if self.momentum else tf.train.GradientDescentOptimizer(0.5)


class Model:
    """What a table should be: rows as [value, version, slot] by key, and counts as [count, version] by key."""

    def __init__(self, settings):
        self.settings = settings
        self.rows, self.counts, self.step, self.newest = {}, {}, 0, None

    def read(self, key):
        if key in self.rows:
            return self.rows[key][0]
        permitted = self.counts.get(key, [0])[0] + 1 >= self.settings.filter_freq
        return INITIAL if permitted else NO_PERMISSION

    def update(self, keys, factors):
        for key in keys if self.settings.filter_freq else ():
            self.counts[key] = [self.counts.get(key, [0])[0] + 1, self.step]
        for key in set(keys):
            if self.counts.get(key, [0])[0] >= self.settings.filter_freq:
                row = self.rows.setdefault(key, [INITIAL, 0, 0.0])
                gradient = sum(factor for other, factor in zip(keys, factors) if other == key)
                row[2] = gradient + (row[2] if self.settings.momentum else 0.0)
                row[0] -= 0.5 * row[2]
                row[1] = self.step
        self.newest = self.step
        self.step += 1

    def evict_by_age(self):
        """What a full save evicts."""
        if self.newest is None:
            return
        living = self.newest - self.settings.steps_to_live if self.settings.kind == "steps" else -1
        for key, (value, version, _) in list(self.rows.items()):
            short = self.settings.kind == "norm" and 0.5 * DIM * value * value < self.settings.threshold
            if version < living or short and version < self.newest - SPARED_STEPS:
                del self.rows[key]
                if not self.settings.bloom:
                    self.counts.pop(key, None)
        if self.settings.bloom:
            return
        for key, (_, version) in list(self.counts.items()):
            if key not in self.rows and version < living:
                del self.counts[key]

    def saved(self, full):
        """What a restore gives. `full`: what the last full checkpoint gives, if this is an increment after it."""
        state = copy.deepcopy(self)
        if full is not None and self.settings.bloom:  # an increment has the counts of keys with a row
            state.counts = {**full.counts, **{key: count for key, count in self.counts.items() if key in self.rows}}
        state.newest = None
        return state


class Training:
    def __init__(self, settings, parts, target="", device=None):
        with tf.Graph().as_default() as graph, tf.device(device):
            self.table = tf.get_embedding_variable("ids", DIM, initializer=tf.constant_initializer(INITIAL),
                                                   partitioner=tf.fixed_size_partitioner(parts),
                                                   ev_option=settings.option())
            step = tf.train.get_or_create_global_step()
            self.keys, self.factors = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None])
            self.jump = tf.placeholder(tf.int64, [])
            self.later = tf.assign_add(step, self.jump)
            self.rows = tf.nn.embedding_lookup(self.table, self.keys)
            loss = tf.reduce_sum(self.rows * tf.expand_dims(self.factors, 1))
            self.train = settings.optimizer().minimize(loss, global_step=step)
            self.counts = [part.total_count() for part in self.table]
            self.saver = tf.train.Saver(incremental_save_restore=True)
            init = tf.global_variables_initializer()
        self.session = tf.Session(target, graph=graph)
        self.session.run(init)

    def read(self):
        rows = self.session.run(self.rows, {self.keys: KEYS})
        np.testing.assert_array_equal(rows[:, 0], rows[:, 1])
        return dict(zip(KEYS, rows[:, 0].tolist()))


class RandomTest(unittest.TestCase):
    def run_one(self, seed, kind, on_servers, steps):
        rng = random.Random(seed)
        settings = Settings(rng, kind)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            model, saved, full = Model(settings), None, None
            training, parts = None, 0
            for number in range(steps):
                action = rng.random() if training else 1.0
                if action < 0.7:
                    keys = [rng.choice(KEYS) for _ in range(rng.randrange(1, 7))]
                    factors = [0.5 * rng.randrange(1, 5) for _ in keys]
                    training.session.run(training.train, {training.keys: keys, training.factors: factors})
                    model.update(keys, factors)
                    if kind == "size":
                        self.follow_evictions(training, model, parts)
                elif action < 0.78 and model.step < 800:
                    training.session.run(training.later, {training.jump: 30})
                    model.step += 30
                elif action < 0.86:
                    training.saver.save(training.session, path, model.step)
                    self.follow_save(training, model, parts)
                    saved = full = model.saved(None)
                elif action < 0.95:
                    prefix = training.saver.incremental_save(training.session, path, model.step)
                    increment = ".incremental_checkpoint" in prefix
                    if not increment:
                        self.follow_save(training, model, parts)
                    saved = model.saved(full if increment else None)
                    full = full if increment else saved
                else:  # a crash, after which another number of parts continues
                    parts = rng.randrange(1, 4)
                    if on_servers:
                        cluster = tf.test.create_local_cluster(num_workers=1, num_ps=2)
                        device = tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0")
                        training = Training(settings, parts, cluster[0][0].target, device)
                    else:
                        training = Training(settings, parts)
                    model = Model(settings) if saved is None else copy.deepcopy(saved)
                    if saved is not None:
                        training.saver.restore(training.session, tf.train.latest_checkpoint(folder))
                self.assertEqual(training.read(), {key: model.read(key) for key in KEYS}, number)
                self.assertEqual(sum(training.session.run(training.counts)), len(model.rows), number)

    def follow_save(self, training, model, parts):
        """Removes from the model what a full save has evicted."""
        model.evict_by_age()
        if model.settings.kind == "size":
            self.follow_evictions(training, model, parts)

    def follow_evictions(self, training, model, parts):
        """Waits until each part is within its limit, and removes from the model what may have been evicted."""
        for part in range(parts):
            small = (1000 - part + parts - 1) // parts
            limit = max(1, model.settings.max_rows * small // 1000)
            while training.session.run(training.counts[part]) > limit:
                pass
            rows = {key: row for key, row in model.rows.items() if key % 1000 % parts == part}
            if len(rows) <= limit:
                continue
            found = training.read()
            gone = {key for key in rows if found[key] == INITIAL}
            self.assertEqual(len(gone), len(rows) - limit)
            stayed = min(version for key, (_, version, _) in rows.items() if key not in gone)
            for key in gone:
                self.assertLessEqual(rows[key][1], stayed)
                del model.rows[key]

    def test_tables_of_this_process(self):
        for seed in range(12):
            kind = ("none", "steps", "norm", "size")[seed % 4]
            with self.subTest(seed=seed, kind=kind):
                self.run_one(seed, kind, False, 120)

    def test_tables_on_two_servers(self):
        for seed in range(100, 104):
            kind = ("none", "steps", "norm", "size")[seed % 4]
            with self.subTest(seed=seed, kind=kind):
                self.run_one(seed, kind, True, 60)


if __name__ == "__main__":
    unittest.main()
