# SPDX-License-Identifier: BSD-3-Clause
"""Controls in their hosts: recorded calls replayed in each, and files loaded into the kernel."""
