"""tf.contrib.gan: the generator and the discriminator of a GAN, their losses, and the loop that trains them.

Scores that download a network (inception_score, frechet_inception_distance) are not part of this package.
"""

from tensorbraid.contrib.gan import (  # noqa: F401
    estimator as estimator, eval as eval, features as features, losses as losses, namedtuples as namedtuples,
    train as train)
from tensorbraid.contrib.gan.models import *  # noqa: F401,F403
from tensorbraid.contrib.gan.namedtuples import *  # noqa: F401,F403
from tensorbraid.contrib.gan.train import *  # noqa: F401,F403
