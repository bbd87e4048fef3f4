"""Secrets: where their values are kept, and how known values stay out of everything else."""
