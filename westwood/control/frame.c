/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the laboratory's page calls in a WebAssembly module with a control (core/frame.h).
 */
#include "frame.h"

#define EXPORT(name) __attribute__((export_name(name)))

extern const struct ww_control_ops ww_own_control;

static struct ww_frame frame;

EXPORT("frame") struct ww_frame *ww_frame_place(void) { return &frame; }

EXPORT("frame_bytes") uint32_t ww_frame_bytes(void) { return sizeof frame; }

EXPORT("call") void ww_frame_run(uint32_t call) {
    ww_run_operation(&ww_own_control, &frame, (enum ww_operation)call);
}
