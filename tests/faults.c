/* Fails, or ends the process at, the n-th system call that changes a folder. Loaded by LD_PRELOAD.

   Calls about other files go through untouched. faults_arm() sets which call of those that follow
   is hit and how; faults_calls() says how many there were since then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { COUNT, ONCE, FROM_THEN_ON, KILL, TEAR };
enum { KILLED = 77 };

static char folder[PATH_MAX];
static int armed, mode, code;
static long target, calls;

void faults_arm(const char *where, int how, long nth, int number) {
    snprintf(folder, sizeof folder, "%s", where);
    mode = how, target = nth, code = number, calls = 0, armed = 1;
}

long faults_calls(void) { return calls; }

void faults_disarm(void) { armed = 0; }

static int inside(const char *path) { return strncmp(path, folder, strlen(folder)) == 0; }

static int inside_descriptor(int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return inside(path);
}

/* Whether this call is to fail; errno is set then. */
static int hit(void) {
    calls++;
    if (mode == COUNT || calls < target) return 0;
    if (mode == KILL && calls == target) _exit(KILLED);
    if (mode == FROM_THEN_ON || (mode == ONCE && calls == target)) {
        errno = code;
        return 1;
    }
    return 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                   \
    int name(const char *path, int flags, ...) {                                     \
        va_list rest;                                                                \
        va_start(rest, flags);                                                       \
        int permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;     \
        va_end(rest);                                                                \
        if (armed && inside(path) && hit()) return -1;                               \
        return REAL(name)(path, flags, permissions);                                 \
    }
OPEN(open)
OPEN(open64)

#define WRITE(name, call, ...)                                                       \
    ssize_t name(int descriptor, const void *bytes, size_t length, ##__VA_ARGS__) {  \
        if (armed && inside_descriptor(descriptor)) {                                \
            if (mode == TEAR && calls + 1 == target) {                               \
                length /= 2;                                                         \
                (void)!(call);                                                       \
                _exit(KILLED);                                                       \
            }                                                                        \
            if (hit()) return -1;                                                    \
        }                                                                            \
        return call;                                                                 \
    }
WRITE(write, REAL(write)(descriptor, bytes, length))
WRITE(pwrite, REAL(pwrite)(descriptor, bytes, length, at), off_t at)
WRITE(pwrite64, REAL(pwrite64)(descriptor, bytes, length, at), off64_t at)

#define ON_DESCRIPTOR(name, call, ...)                                               \
    int name(int descriptor, ##__VA_ARGS__) {                                        \
        if (armed && inside_descriptor(descriptor) && hit()) return -1;              \
        return call;                                                                 \
    }
ON_DESCRIPTOR(fsync, REAL(fsync)(descriptor))
ON_DESCRIPTOR(fdatasync, REAL(fdatasync)(descriptor))
ON_DESCRIPTOR(ftruncate, REAL(ftruncate)(descriptor, length), off_t length)
ON_DESCRIPTOR(ftruncate64, REAL(ftruncate64)(descriptor, length), off64_t length)

#define ON_PATH(name, call, ...)                                                     \
    int name(const char *path, ##__VA_ARGS__) {                                      \
        if (armed && inside(path) && hit()) return -1;                               \
        return call;                                                                 \
    }
ON_PATH(unlink, REAL(unlink)(path))
ON_PATH(rmdir, REAL(rmdir)(path))
ON_PATH(mkdir, REAL(mkdir)(path, permissions), mode_t permissions)
ON_PATH(rename, REAL(rename)(path, to), const char *to)
ON_PATH(link, REAL(link)(path, to), const char *to)
