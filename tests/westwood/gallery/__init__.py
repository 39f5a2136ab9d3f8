# SPDX-License-Identifier: BSD-3-Clause
"""Compares the controls of the gallery with their equations and with other implementations."""
