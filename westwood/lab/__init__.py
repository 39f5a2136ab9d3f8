# SPDX-License-Identifier: BSD-3-Clause
"""The laboratory in the browser: the data of its page, and the server."""
