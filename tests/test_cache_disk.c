/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cache_disk.c - a disk that is full: a miss, with a reason, and what was
 * kept stays.  The disk is a small one in memory that only this process sees.
 */
#define _GNU_SOURCE /* unshare */

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept.h"
#include "suite.h"

static bool write_text(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY);
    const ssize_t bytes = fd >= 0 ? write(fd, text, strlen(text)) : -1;
    if (fd >= 0)
        close(fd);
    return bytes == (ssize_t)strlen(text);
}

static bool keep_number(const char *map, unsigned id)
{
    char line[60];
    snprintf(line, sizeof line, "%u %u 1", id, id);
    return write_text(map, line);
}

/* A namespace of users in which this one is the only one, and may mount. */
static bool leave_users(void)
{
    const unsigned user = (unsigned)geteuid(), group = (unsigned)getegid();
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           keep_number("/proc/self/uid_map", user) &&
           write_text("/proc/self/setgroups", "deny") &&
           keep_number("/proc/self/gid_map", group);
}

static bool leave_mounts(void)
{
    return (unshare(CLONE_NEWNS) == 0 || leave_users()) &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool mount_little(const char *path)
{
    return leave_mounts() &&
           mount("tmpfs", path, "tmpfs", 0, "size=160k,mode=0700") == 0;
}

/* Tried in a process of its own: mounts are left for good. */
static bool can_mount(void)
{
    int state = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(!mount_little("/tmp"));
    return waitpid(child, &state, 0) == child && WIFEXITED(state) &&
           WEXITSTATUS(state) == 0;
}

START_TEST(a_full_disk_is_a_miss)
{
    char path[SCRATCH_PATH];
    kept k;
    kept_open(&k, "full");
    ck_assert_int_eq(mkdir(k.folder, 0700), 0);
    ck_assert(mount_little(k.folder));
    kept_open_full(&k, "full", path);
    kept_expect_no_room(&k, "a full disk", 1);
    ck_assert_int_eq(unlink(path), 0);
    kept_store(&k, "new", KEPT_DATA, KEPT_BYTES);
    kept_expect(&k, "with room again", "new", KEPT_DATA, KEPT_BYTES);
}
END_TEST

int main(void)
{
    if (!can_mount())
        return suite_skip("the right to mount a small disk");
    TCase *t = tcase_create("cache_disk");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_add_test(t, a_full_disk_is_a_miss);

    Suite *suite = suite_create("cache_disk");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
