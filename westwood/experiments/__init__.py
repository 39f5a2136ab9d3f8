# SPDX-License-Identifier: BSD-3-Clause
"""Plans and runs experiments: sweeps that can be resumed, clusters, and validation of engines."""
