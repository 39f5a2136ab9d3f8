# SPDX-License-Identifier: BSD-3-Clause
"""Many runs: plans, sweeps that survive, clusters, engines held against each other."""
