"""Plan files: `viva run`, and the Slurm job of one."""
