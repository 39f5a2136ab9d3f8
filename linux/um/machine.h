/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two halves of the machine know of each other: machine.c belongs to the kernel, the C++ files to the host's
 * C library. The system calls of ../path are redefined to those here when the objects are linked (system_calls.txt),
 * so that its traffic runs on the machine's sockets, in virtual time, without a process or a switch to user space.
 */
#pragma once

enum {
    WW_REPORT_FD =
        100,      /* the report's descriptor, since the kernel's messages have standard output */
    WW_NAME = 16, /* bytes of a device's name */
};

#ifdef __cplusplus
extern "C" {
#endif

/* A new namespace becomes the current one, in which sockets and devices are made. Returns its number. */
int ww_machine_new_namespace(void);
void ww_machine_enter(int number);

/* Makes a device in the current namespace and starts it; returns its number or a negative error. `name` has room for
   WW_NAME bytes; %d in it becomes a number. */
int ww_machine_device(char* name, unsigned int packet_bytes);
unsigned long long ww_machine_drops(int device);

/* Sets a parameter of the current namespace, by the name of sysctl(8); returns -1 if it knows none. */
int ww_machine_parameter(const char* name, const char* value);

/* Adds a user's control, named ww_own; takes its struct ww_config of core/. Returns 0 or a negative error. */
int ww_machine_add_control(const void* config);

/* Makes a call of a recording, a line of core/calls.h, in the control of this struct ww_config; changes the struct
   ww_window. */
void ww_machine_call(const void* config, const char* line, void* window);

/* Returns the virtual time in ns. */
unsigned long long ww_machine_now(void);

/* Hands a packet to a device. */
void ww_machine_deliver(int device, const void* packet, unsigned int bytes);

/* Called by the kernel: the whole run, a packet that a device sends, and the time that has come. */
int ww_machine_main(void);
void* ww_machine_room(unsigned int bytes);
void ww_machine_entered(unsigned long long now_ns, int device, unsigned int bytes);
unsigned long long ww_machine_advance(unsigned long long now_ns); /* returns when to advance next */

/* Counts the calls of ww_machine_advance: as long as it does not grow, virtual time stands still. */
extern unsigned long ww_machine_turns;

#ifdef __cplusplus
}
#endif
