# SPDX-License-Identifier: BSD-3-Clause
"""The patches that are proposed to ns-3 and Linux, with what proves and measures them."""
