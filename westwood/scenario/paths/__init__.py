# SPDX-License-Identifier: BSD-3-Clause
"""Paths drawn at random, with their queues, access links and recordings, as scenarios."""
