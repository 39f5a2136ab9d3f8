/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enters the folder of the pins and makes it the working directory, so that ww-kernel keeps the folder that it
 * checked even if a name on its path changes meanwhile. ww-kernel trusts what is pinned there. So the folder must
 * belong to the user who runs ww-kernel, with no access for anybody else, and nobody else may be able to move it.
 * A lock makes concurrent runs of ww-kernel change it one after the other.
 */
#define _GNU_SOURCE /* memrchr, O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ww_kernel.h"

static int parent = -1, folder = -1;
static char name[NAME_MAX + 1];

static int refuse_entry(const char *dir) {
    fprintf(stderr, "%s: only its owner or root can enter: run it as that user\n", dir);
    return LACKING;
}

/* Opens the parent folder of DIR, and stores DIR's last name. */
static int open_parent(const char *dir) {
    char path[PATH_MAX];
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/') length--;
    const char *slash = memrchr(dir, '/', length);
    const char *own = slash == NULL ? dir : slash + 1;
    const size_t own_length = length - (size_t)(own - dir);
    const size_t path_length = slash == NULL ? 0 : (size_t)(slash - dir) + (slash == dir);
    if (own_length == 0 || own_length >= sizeof name || path_length >= sizeof path)
        return fail(0, "%s: expected the path of a folder", dir);
    memcpy(name, own, own_length);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return fail(0, "%s: expected a path that ends in the folder's name", dir);
    memcpy(path, dir, path_length);
    path[path_length] = '\0';
    parent = open(path_length == 0 ? "." : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (parent >= 0) return DONE;
    return errno == ENOENT ? ABSENT : errno == EACCES ? refuse_entry(dir) : fail(errno, "%s", path);
}

static int refuse_owner(const char *dir, const struct stat *found) {
    fprintf(stderr, "%s: belongs to user %u, expected user %u: ", dir, found->st_uid, geteuid());
    if (geteuid() == 0)
        fprintf(stderr, "rm -r %s\n", dir);
    else
        fputs("run it as that user\n", stderr);
    return LACKING;
}

/* Checks that only root and we can replace this folder by another one. */
static int check_parents(const char *dir) {
    struct stat found, above;
    int at = dup(parent), result = DONE;
    while (result == DONE && at >= 0 && fstat(at, &found) == 0) {
        const bool others = (found.st_mode & 022) != 0 && (found.st_mode & S_ISVTX) == 0;
        if (others || (found.st_uid != 0 && found.st_uid != geteuid()))
            result = fail(0,
                          "%s: other users may change a folder above it (of user %u, mode %o), "
                          "expected one that only root or you may write",
                          dir, found.st_uid, found.st_mode & 07777);
        const int next = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        const bool is_root = next < 0 || fstat(next, &above) != 0 ||
                             (above.st_ino == found.st_ino && above.st_dev == found.st_dev);
        close(at);
        at = next;
        if (is_root) break;
    }
    if (at >= 0) close(at);
    return result;
}

static int check_folder(const char *dir) {
    struct stat found;
    struct statfs system;
    if (fstatfs(folder, &system) != 0 || system.f_type != BPF_FS_MAGIC)
        return fail(0, "%s: expected a folder of a bpffs", dir);
    if (fstat(folder, &found) != 0) return fail(errno, "%s", dir);
    if (found.st_uid != geteuid()) return refuse_owner(dir, &found);
    if ((found.st_mode & 077) != 0)
        return fail(0, "%s: has mode %o, so that others may have changed it: chmod 700 %s", dir,
                    found.st_mode & 07777, dir);
    return check_parents(dir);
}

/* Opens the folder itself, and not a symbolic link that somebody else may have put there. */
static int open_folder(const char *dir, bool make) {
    struct statfs system;
    if (make) {
        if (fstatfs(parent, &system) != 0 || system.f_type != BPF_FS_MAGIC)
            return fail(0, "%s: expected a folder of a bpffs", dir);
        if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
            return fail(errno, "%s: can't be made", dir);
    }
    folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) return DONE;
    struct stat found;
    const int error = errno;
    if (error == ENOENT) return ABSENT;
    if (error == EACCES)
        return fstatat(parent, name, &found, AT_SYMLINK_NOFOLLOW) == 0 ? refuse_owner(dir, &found)
                                                                       : refuse_entry(dir);
    if (error == ELOOP || error == ENOTDIR)
        return fail(0, "%s: expected a folder, not a link or a file: rm %s", dir, dir);
    return fail(error, "%s: can't be opened", dir);
}

/* True if DIR still is the folder that we hold: the previous holder of the lock may have removed it. */
static bool is_current(void) {
    struct stat held, now;
    return fstat(folder, &held) == 0 && fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_ino == now.st_ino && held.st_dev == now.st_dev;
}

int enter(const char *dir, bool make) {
    int result = open_parent(dir);
    if (result == ABSENT && make) return fail(0, "%s: expected a folder of a bpffs", dir);
    while (result == DONE) {
        result = open_folder(dir, make);
        if (result == ABSENT && make) result = DONE; /* removed in the meantime */
        if (result != DONE || folder < 0) continue;
        result = check_folder(dir);
        if (result != DONE) return result;
        while (flock(folder, LOCK_EX) != 0)
            if (errno != EINTR) return fail(errno, "%s: can't be locked", dir);
        if (is_current()) break;
        close(folder);
    }
    if (result != DONE) return result;
    return fchdir(folder) == 0 ? DONE : fail(errno, "%s: can't be entered", dir);
}

void leave(void) {
    if (chdir("/") != 0) return;
    close(folder);
    close(parent);
}

void remove_folder(void) { unlinkat(parent, name, AT_REMOVEDIR); }
