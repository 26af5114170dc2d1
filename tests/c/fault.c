/* Preloaded into a process, it fails or counts what SQLite does to its write-ahead log.
 *
 * ASKR_FAULT names a file whose first byte says what happens from now on:
 *   's'  syncing a log fails          'w'  writing to a log fails
 *   'f'  a log finds no room          anything else, or no file: nothing fails
 * ASKR_SYNCS names a file that grows by a byte each time a log is synced. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_log(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 4) {
        return 0;
    }
    path[length] = 0;
    return strcmp(path + length - 4, "-wal") == 0;
}

static char fault(void) {
    char what = 0;
    const char *path = getenv("ASKR_FAULT");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        if (read(file, &what, 1) != 1) {
            what = 0;
        }
        close(file);
    }
    return what;
}

static int sync_log(const char *real, int fd) {
    if (is_log(fd)) {
        const char *path = getenv("ASKR_SYNCS");
        int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
        if (file >= 0) {
            ssize_t written = write(file, "s", 1);
            (void)written;
            close(file);
        }
        if (fault() == 's') {
            errno = EIO;
            return -1;
        }
    }
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, real);
    return next(fd);
}

int fdatasync(int fd) { return sync_log("fdatasync", fd); }
int fsync(int fd) { return sync_log("fsync", fd); }

static ssize_t write_log(const char *real, int fd, const void *bytes, size_t count, off64_t offset) {
    if (is_log(fd)) {
        char what = fault();
        if (what == 'w' || what == 'f') {
            errno = what == 'w' ? EIO : ENOSPC;
            return -1;
        }
    }
    ssize_t (*next)(int, const void *, size_t, off64_t) =
        (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, real);
    return next(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return write_log("pwrite", fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    return write_log("pwrite64", fd, bytes, count, offset);
}
