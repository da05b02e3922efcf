"""Names of what training makes inside of variable scopes: global steps, slots and moving averages."""

from registry import case


def names(variables):
    return [variable.name for variable in variables]


for number, (opened, create) in enumerate((
    (lambda tf: tf.variable_scope("a"), True), (lambda tf: tf.name_scope("a"), True),
    (lambda tf: tf.variable_scope("a", reuse=tf.AUTO_REUSE), False),
    (lambda tf: tf.variable_scope("a", reuse=True), True),
    (lambda tf: tf.variable_scope("a/b", initializer=tf.ones_initializer(), dtype=tf.float16), False),
)):
    def step(tf, opened=opened, create=create):
        with opened(tf):
            made = tf.train.create_global_step() if create else tf.train.get_or_create_global_step()
            same = tf.train.get_or_create_global_step() is made
        with tf.Session() as session:
            session.run(made.initializer)
            return [made.name, same, session.run(made), names(tf.global_variables()), names(tf.trainable_variables()),
                    names(tf.get_collection("global_step")), tf.train.get_global_step() is made]

    case("train.create_global_step train.get_or_create_global_step", step, label=f"global step in a scope #{number}")


def averages(tf):
    """The names of averages, before and after they are made, and what a Saver would restore."""
    with tf.variable_scope("m"):
        w, u = tf.get_variable("w", [2]), tf.get_variable("u", [2])
        first, second = tf.train.ExponentialMovingAverage(0.9), tf.train.ExponentialMovingAverage(0.9)
        found = [first.average_name(w), first.average(w) is None]
        first.apply([w])
        found += [first.average_name(w), first.average_name(u), second.average_name(w)]
        with tf.name_scope("n"):
            found.append(first.average_name(u))
        second.apply([w, tf.add(w, u, name="t")])
        found.append([second.average_name(w), second.average(w).name, names(tf.global_variables())])
    restored = first.variables_to_restore()
    return found + [sorted((key, variable.name) for key, variable in restored.items())]


case("train.ExponentialMovingAverage", averages, label="names of averages in a scope")
