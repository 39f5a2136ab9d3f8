# SPDX-License-Identifier: BSD-3-Clause
"""Our congestion controls in this machine's kernel, and what the kernel says of connections."""
