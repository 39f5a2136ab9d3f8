/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ww-kernel is the program that `westwood kernel` runs.
 *
 *   ww-kernel load DIR OBJECT VERSION     registers the controls and pins them in DIR, a folder of a bpffs
 *   ww-kernel add DIR OBJECT NAME SOURCE [VALUE...]
 *                                         registers a user's control beside them; SOURCE identifies its file,
 *                                         VALUE are its parameters
 *   ww-kernel verify OBJECT NAME SOURCE [VALUE...]
 *                                         lets the kernel verify a user's control, and registers nothing
 *   ww-kernel replay OBJECT NAME SOURCE [VALUE...]
 *                                         verifies a control, then makes the calls on standard input: replay.c
 *   ww-kernel unload DIR                  unregisters them and removes DIR
 *   ww-kernel status DIR                  prints what is loaded as a JSON object
 *   ww-kernel record DIR PORT BYTES [PID [OBJECT [CC...]]]
 *                                         prints events as CSV until SIGINT or SIGTERM: those of connections
 *                                         with PORT at either end (0: all), through a buffer of BYTES. Ends
 *                                         with its parent process PID (0: none). With OBJECT it records all
 *                                         controls, not only ours, or those named CC.
 *
 * DIR belongs to the user who runs it, with mode 700: folder.c.
 *
 * Exit codes: 0 done, 1 failed, 2 bad usage, 77 not permitted.
 */
#include "ww_kernel.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints libbpf's messages only if WW_VERBOSE is set: they are long, and ours say what to do. */
static int speak(enum libbpf_print_level level, const char *format, va_list arguments) {
    if (level == LIBBPF_DEBUG || getenv("WW_VERBOSE") == NULL) return 0;
    return vfprintf(stderr, format, arguments);
}

static bool is_number(const char *text, unsigned long most, unsigned *number) {
    char *end;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    *number = (unsigned)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && value <= most;
}

/* Reads the words after `add DIR` and `verify`. */
static bool reads_own(int count, char **words, struct own_control *control) {
    char *end;
    if (count < 3 || count > 3 + WW_OWN_PARAMETERS_MAX) return false;
    control->object = words[0];
    if (strlen(words[1]) == 0 || strlen(words[1]) >= sizeof control->is.name) return false;
    strcpy(control->is.name, words[1]);
    control->is.source = strtoull(words[2], &end, 16);
    if (*end != '\0') return false;
    for (int i = 3; i < count; i++)
        if (!is_number(words[i], UINT_MAX, &control->is.parameters[i - 3])) return false;
    return true;
}

int main(int count, char **words) {
    struct own_control control = {};
    struct wanted wanted = {};
    libbpf_set_print(speak);
    if (count == 5 && strcmp(words[1], "load") == 0) return load(words[2], words[3], words[4]);
    if (count >= 3 && strcmp(words[1], "add") == 0 && reads_own(count - 3, words + 3, &control))
        return add(words[2], &control);
    for (int replays = 0; replays < 2; replays++)
        if (count >= 2 && strcmp(words[1], replays ? "replay" : "verify") == 0 &&
            reads_own(count - 2, words + 2, &control))
            return try_only(&control, replays);
    if (count == 3 && strcmp(words[1], "unload") == 0) return unload(words[2]);
    if (count == 3 && strcmp(words[1], "status") == 0) return status(words[2]);
    if (count >= 5 && strcmp(words[1], "record") == 0 && is_number(words[3], 65535, &wanted.port) &&
        is_number(words[4], 1u << 30, &wanted.ring_bytes) &&
        (count == 5 || is_number(words[5], INT_MAX, &wanted.starter))) {
        wanted.object = count > 6 ? words[6] : NULL;
        wanted.controls = words + (count > 6 ? 7 : count); /* ends with NULL, like words */
        return record(words[2], &wanted);
    }
    fputs(
        "usage: ww-kernel load DIR OBJECT VERSION | add DIR OBJECT NAME SOURCE [VALUE...] | verify "
        "OBJECT NAME SOURCE [VALUE...] | replay OBJECT NAME SOURCE [VALUE...] | unload DIR | "
        "status DIR | record DIR PORT "
        "BYTES [PID [OBJECT [CC...]]]\n",
        stderr);
    return USAGE;
}
