"""A whole rollout in one kernel, generated from an environment's rules."""
