# SPDX-License-Identifier: BSD-3-Clause
"""The laboratory in a browser: what its page knows, and how it is served."""
