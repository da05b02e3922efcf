"""What the public modules of the package share: graphs, sessions, variables. Programs do not import it."""
