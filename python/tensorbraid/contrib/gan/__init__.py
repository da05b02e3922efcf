"""tf.contrib.gan: the generator and the discriminator of a GAN, their losses, and the loop that trains them.

There are GANs of one generator and one discriminator. Those with more, such as InfoGAN, ACGAN and CycleGAN, and the
modules `eval`, `features` and `estimator` are not part of this package.
"""

from tensorbraid.contrib.gan import losses as losses, namedtuples as namedtuples, train as train  # noqa: F401
from tensorbraid.contrib.gan.namedtuples import *  # noqa: F401,F403
from tensorbraid.contrib.gan.train import *  # noqa: F401,F403
