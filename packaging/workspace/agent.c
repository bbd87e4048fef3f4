// The agent inside the microVM: process 1 of its Linux, and our side's only way in.
//
// It mounts the system, loads the drivers, opens the virtio port, and then speaks the frames that sandbox/workspace/frames.py defines; agent.py is the same
// for places that have Python. One thread, one poll loop, no allocation that the outside controls
// beyond one frame. Every job runs in a cgroup of its own, so that ending it ends all of it.
//
// As another process than the first it serves on its standard streams, or, called with "text" and
// a named pipe, reads that and writes lines of base64.
//
// Built static: gcc -O2 -static -o agent agent.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024 * 1024, CHUNK = 64 * 1024, JOBS = 256, LINKS = 256, PROXY_PORT = 3128 };

struct job { uint32_t id; pid_t pid; int out, err, running; };
static struct job jobs[JOBS];
static struct { uint32_t id; int fd; } links[LINKS];
static uint32_t next_link = 1;
static int source = -1, sink = -1, listener = -1, woken[2], has_cgroups, has_bound;
static uint8_t in[MOST + 4], out[MOST + 4];
static size_t held;

static void put32(uint8_t *p, uint32_t v) { memcpy(p, &v, 4); }
static uint32_t get32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint64_t get64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }

// A virtio port answers 0 or EAGAIN when nobody is at the other end: wait, there will be.
static void write_all(const void *data, size_t size) {
    const char *p = data;
    while (size) {
        ssize_t n = write(sink, p, size);
        if (n > 0) { p += n; size -= n; continue; }
        if (n < 0 && errno != EAGAIN && errno != EINTR && errno != ENODEV) _exit(1);
        struct pollfd one = {sink, POLLOUT, 0};
        if (poll(&one, 1, 100) <= 0 || (one.revents & (POLLHUP | POLLERR))) usleep(5000);
    }
}

// Where only text gets through, a frame goes out as one line of base64.
static int as_text;

static void write_line(const uint8_t *data, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static char line[(MOST + 16) / 3 * 4 + 8];
    size_t n = 0;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t v = data[i] << 16 | (i + 1 < size ? data[i + 1] << 8 : 0) | (i + 2 < size ? data[i + 2] : 0);
        line[n++] = digits[v >> 18];
        line[n++] = digits[v >> 12 & 63];
        line[n++] = i + 1 < size ? digits[v >> 6 & 63] : '=';
        line[n++] = i + 2 < size ? digits[v & 63] : '=';
    }
    line[n++] = '\n';
    write_all(line, n);
}

static void send_frame(char kind, uint32_t id, const void *body, size_t size) {
    put32(out, size + 5); out[4] = kind; put32(out + 5, id);
    if (size) memcpy(out + 9, body, size);
    if (as_text) write_line(out, size + 9);
    else write_all(out, size + 9);
}

static void fail(uint32_t id, int code, const char *text) {
    uint8_t body[8 + 512];
    size_t n = strnlen(text, 512);
    put32(body, code); put32(body + 4, n); memcpy(body + 8, text, n);
    send_frame('E', id, body, 8 + n);
}

// ---- paths and small files

static int write_text(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t n = write(fd, text, strlen(text));
    close(fd);
    return n < 0 ? -1 : 0;
}

static int make_parents(char *path) {
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        int bad = mkdir(path, 0777) && errno != EEXIST;
        *p = '/';
        if (bad) return -1;
    }
    return 0;
}

static int remove_tree(int at, const char *name) {
    if (!unlinkat(at, name, 0) || errno == ENOENT) return 0;
    if (errno != EISDIR && errno != EPERM) return -1;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    DIR *dir = fdopendir(fd);
    struct dirent *item;
    while ((item = readdir(dir)))
        if (strcmp(item->d_name, ".") && strcmp(item->d_name, "..") && remove_tree(fd, item->d_name)) {
            closedir(dir);
            return -1;
        }
    closedir(dir);
    return unlinkat(at, name, AT_REMOVEDIR);
}

// ---- records: what frames.py calls Record

static uint8_t *records;
static size_t records_size, records_room;

static void reset_records(void) { records_size = 0; }

static uint8_t *room(size_t size) {
    if (records_size + size > records_room) {
        records_room = (records_size + size) * 2 + 65536;
        records = realloc(records, records_room);
        if (!records) _exit(1);
    }
    return records + records_size;
}

static uint64_t ns(struct timespec t) { return (uint64_t)((int64_t)t.tv_sec * 1000000000 + t.tv_nsec); }

static void add_record(const char *name, size_t length, const struct stat *st, int at, const char *path) {
    uint8_t *p = room(38 + length + 2 + 4096);
    uint64_t size = S_ISREG(st->st_mode) ? st->st_size : 0, m = ns(st->st_mtim), c = ns(st->st_ctim), i = st->st_ino;
    uint16_t n = length;
    put32(p, st->st_mode); memcpy(p + 4, &size, 8); memcpy(p + 12, &m, 8); memcpy(p + 20, &c, 8);
    memcpy(p + 28, &i, 8); memcpy(p + 36, &n, 2); memcpy(p + 38, name, length);
    size_t used = 38 + length;
    if (S_ISLNK(st->st_mode)) {
        ssize_t got = readlinkat(at, path, (char *)p + used + 2, 4096);
        n = got < 0 ? 0 : got;
        memcpy(p + used, &n, 2);
        used += 2 + n;
    }
    records_size += used;
}

// Records go out in pieces that end between two of them.
static void send_records(uint32_t id) {
    size_t start = 0, at = 0;
    while (at < records_size) {
        uint16_t n;
        memcpy(&n, records + at + 36, 2);
        size_t next = at + 38 + n;
        if (S_ISLNK(get32(records + at))) { memcpy(&n, records + next, 2); next += 2 + n; }
        if (next - start > 256 * 1024 && at > start) { send_frame('O', id, records + start, at - start); start = at; }
        at = next;
    }
    if (at > start) send_frame('O', id, records + start, at - start);
}

static char walked[65536];

static void walk(int fd, size_t length) {
    DIR *dir = fdopendir(fd);
    if (!dir) { close(fd); return; }
    struct dirent *item;
    struct stat st;
    while ((item = readdir(dir))) {
        const char *name = item->d_name;
        size_t n = strlen(name);
        if ((name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]))) || length + n + 2 > sizeof walked - 1) continue;
        if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW)) continue;
        walked[length] = '/';
        memcpy(walked + length + 1, name, n + 1);
        add_record(walked, length + 1 + n, &st, fd, name);
        if (S_ISDIR(st.st_mode)) {
            int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
            if (inner >= 0) walk(inner, length + 1 + n);
        }
    }
    closedir(dir);
}

static uint64_t token_of_records(void) {
    uint64_t h = 14695981039346656037u, word;
    size_t at = 0;
    for (; at + 8 <= records_size; at += 8) { memcpy(&word, records + at, 8); h = (h ^ word) * 1099511628211u; h ^= h >> 29; }
    for (; at < records_size; at++) h = (h ^ records[at]) * 1099511628211u;
    return h;
}

// ---- strings of a body, ended with 0 in place for the C library

static char *texts[8192];
static size_t text_sizes[8192], text_count;
static uint8_t copy[MOST + 8192];

static int take_strings(const uint8_t *body, size_t size) {
    size_t at = 0, to = 0;
    text_count = 0;
    while (at < size) {
        if (size - at < 4 || text_count >= 8190) return -1;
        uint32_t n = get32(body + at);
        at += 4;
        if (n > size - at) return -1;
        texts[text_count] = (char *)copy + to;
        memcpy(copy + to, body + at, n);
        copy[to + n] = 0;
        text_sizes[text_count++] = n;
        to += n + 1;
        at += n;
    }
    texts[text_count] = NULL;
    return 0;
}

// ---- jobs

static void job_group(char *path, size_t size, uint32_t id, const char *file) {
    snprintf(path, size, "/sys/fs/cgroup/jobs/%u%s", id, file);
}

static void run(uint32_t id) {
    if (text_count < 4) { fail(id, EINVAL, "run"); return; }
    long argc = atol(texts[2]);
    unsigned long memory = 0, processes = 0;
    sscanf(texts[1], "%lu %lu", &memory, &processes);
    struct job *job = NULL;
    for (int i = 0; i < JOBS && !job; i++) if (!jobs[i].id) job = &jobs[i];
    if (argc < 1 || (size_t)argc > text_count - 3) { fail(id, EINVAL, "run"); return; }
    int o[2], e[2];
    if (!job || pipe2(o, O_CLOEXEC)) { fail(id, EAGAIN, "too many commands at once"); return; }
    if (pipe2(e, O_CLOEXEC)) { close(o[0]); close(o[1]); fail(id, EAGAIN, "pipe"); return; }
    char group[128], text[64];
    int is_bound = has_bound;
    if (has_cgroups) {
        job_group(group, sizeof group, id, "");
        mkdir(group, 0755);
        if (processes) { job_group(group, sizeof group, id, "/pids.max"); snprintf(text, sizeof text, "%lu", processes); is_bound |= !write_text(group, text); }
        if (memory) { job_group(group, sizeof group, id, "/memory.max"); snprintf(text, sizeof text, "%lu", memory); write_text(group, text); }
        job_group(group, sizeof group, id, "/cgroup.procs");
    }
    if (processes && !is_bound) {
        close(o[0]); close(o[1]); close(e[0]); close(e[1]);
        fail(id, EPERM, "nothing bounds the number of processes here");
        return;
    }
    char **argv = texts + 3, **env = texts + 3 + argc;
    pid_t pid = fork();
    if (!pid) {
        if (has_cgroups && write_text(group, "0")) _exit(126);
        setsid();
        int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, 0); dup2(o[1], 1); dup2(e[1], 2);
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGCHLD, SIG_DFL); signal(SIGPIPE, SIG_DFL);
        write_text("/proc/self/oom_score_adj", "500");
        int code = 127;
        if (chdir(texts[0])) dprintf(2, "%s: %s\n", texts[0], strerror(errno));
        else {
            // argv ends where the environment begins: give it an end of its own.
            char **words = calloc(argc + 1, sizeof *words);
            memcpy(words, argv, argc * sizeof *words);
            environ = env;
            execvp(words[0], words);
            dprintf(2, "%s: %s\n", words[0], strerror(errno));
            code = errno == ENOENT || errno == ENOTDIR ? 127 : 126;
        }
        _exit(code);
    }
    close(o[1]); close(e[1]);
    if (pid < 0) { close(o[0]); close(e[0]); fail(id, EAGAIN, "fork"); return; }
    fcntl(o[0], F_SETFL, O_NONBLOCK); fcntl(e[0], F_SETFL, O_NONBLOCK);
    *job = (struct job){id, pid, o[0], e[0], 1};
}

// Passes on what a pipe has; 0 when that was nothing.
static int pass(struct job *job, int *fd, char kind) {
    static uint8_t data[CHUNK];
    if (*fd < 0) return 0;
    ssize_t n = read(*fd, data, sizeof data);
    if (n > 0) { if (job->running) send_frame(kind, job->id, data, n); return 1; }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    close(*fd);
    *fd = -1;
    return 0;
}

static void forget(struct job *job) {
    if (job->running || job->out >= 0 || job->err >= 0) return;
    char group[128];
    if (has_cgroups) { job_group(group, sizeof group, job->id, ""); rmdir(group); }
    job->id = 0;
}

static void reap(void) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < JOBS; i++) {
            struct job *job = &jobs[i];
            if (!job->id || !job->running || job->pid != pid) continue;
            for (int n = 0; n < 1024 && pass(job, &job->out, 'o'); n++);
            for (int n = 0; n < 1024 && pass(job, &job->err, 'e'); n++);
            int32_t code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            send_frame('X', job->id, &code, 4);
            job->running = 0;
            forget(job);
            break;
        }
}

static void end_group(const char *name) {
    char path[300];
    snprintf(path, sizeof path, "/sys/fs/cgroup/jobs/%s/cgroup.kill", name);
    write_text(path, "1");
}

static void kill_jobs(uint32_t id, int all) {
    char name[16];
    if (all && getpid() == 1) kill(-1, SIGKILL);
    for (int i = 0; i < JOBS; i++)
        if (jobs[i].id && jobs[i].running && (all || jobs[i].id == id)) kill(-jobs[i].pid, SIGKILL);
    if (has_cgroups && !all) { snprintf(name, sizeof name, "%u", id); end_group(name); }
    if (has_cgroups && all) {
        DIR *dir = opendir("/sys/fs/cgroup/jobs");
        struct dirent *item;
        while (dir && (item = readdir(dir))) if (item->d_name[0] != '.') end_group(item->d_name);
        if (dir) closedir(dir);
    }
    send_frame('D', id, NULL, 0);
}

// ---- files

static int write_piece(char *path, uint64_t offset, const uint8_t *data, size_t size) {
    int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | (offset ? 0 : O_TRUNC);
    int fd = open(path, flags, 0644);
    if (fd < 0 && errno == ENOENT) { if (make_parents(path)) return -1; fd = open(path, flags, 0644); }
    if (fd < 0) return -1;
    while (size) {
        ssize_t n = pwrite(fd, data, size, offset);
        if (n <= 0) { int code = errno; close(fd); errno = code; return -1; }
        data += n; offset += n; size -= n;
    }
    return close(fd);
}

static int make_folder(char *path, mode_t mode) {
    if (make_parents(path)) return -1;
    if (!mkdir(path, mode)) return 0;
    struct stat st;
    if (errno == EEXIST && !stat(path, &st) && S_ISDIR(st.st_mode)) return 0;
    return -1;
}

static int set_time(const char *path, int64_t mtime) {
    int64_t s = mtime / 1000000000, n = mtime % 1000000000;
    if (n < 0) { n += 1000000000; s--; }
    struct timespec times[2] = {{s, n}, {s, n}};
    return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static void apply(uint32_t id, const uint8_t *body, size_t size) {
    static char path[65536], other[65536];
    size_t at = 0;
    while (at < size) {
        if (size - at < 5) goto broken;
        char op = body[at];
        uint32_t n = get32(body + at + 1);
        at += 5;
        if (n > size - at || n >= sizeof path) goto broken;
        memcpy(path, body + at, n);
        path[n] = 0;
        at += n;
        int bad = 0;
        if (op == 'w') {
            if (size - at < 12) goto broken;
            uint64_t offset = get64(body + at);
            n = get32(body + at + 8);
            at += 12;
            if (n > size - at) goto broken;
            bad = write_piece(path, offset, body + at, n);
            at += n;
        } else if (op == 'd' || op == 'm') {
            if (size - at < 4) goto broken;
            mode_t mode = get32(body + at) & 07777;
            at += 4;
            bad = op == 'd' ? make_folder(path, mode) : chmod(path, mode);
        } else if (op == 't') {
            if (size - at < 8) goto broken;
            bad = set_time(path, (int64_t)get64(body + at));
            at += 8;
        } else if (op == 'x') {
            bad = remove_tree(AT_FDCWD, path);
        } else if (op == 'l' || op == 'r') {
            if (size - at < 4) goto broken;
            n = get32(body + at);
            at += 4;
            if (n > size - at || n >= sizeof other) goto broken;
            memcpy(other, body + at, n);
            other[n] = 0;
            at += n;
            if (op == 'l') bad = remove_tree(AT_FDCWD, path) || make_parents(path) || symlink(other, path);
            else bad = make_parents(other) || rename(path, other);
        } else goto broken;
        if (bad) { fail(id, errno, path); return; }
    }
    send_frame('D', id, NULL, 0);
    return;
broken:
    fail(id, EINVAL, "batch");
}

static void get(uint32_t id, uint64_t offset, uint64_t most, const char *path) {
    static uint8_t data[8 * CHUNK];
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) { fail(id, errno, path); return; }
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        fail(id, S_ISDIR(st.st_mode) ? EISDIR : EINVAL, path);
        return;
    }
    while (most) {
        ssize_t n = pread(fd, data, most < sizeof data ? most : sizeof data, offset);
        if (n < 0) { int code = errno; close(fd); fail(id, code, path); return; }
        if (!n) break;
        send_frame('O', id, data, n);
        offset += n; most -= n;
    }
    close(fd);
    send_frame('D', id, NULL, 0);
}

static void list(uint32_t id, const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) { fail(id, errno, path); return; }
    DIR *dir = fdopendir(fd);
    struct dirent *item;
    struct stat st;
    reset_records();
    while ((item = readdir(dir))) {
        const char *name = item->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..")) continue;
        if (fstatat(fd, name, &st, 0) && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW)) continue;
        add_record(name, strlen(name), &st, fd, name);
    }
    closedir(dir);
    send_records(id);
    send_frame('D', id, NULL, 0);
}

static void scan(uint32_t id, uint64_t token) {
    struct stat st;
    reset_records();
    for (size_t i = 0; i < text_count; i++) {
        int n = snprintf(walked, sizeof walked, "%zu", i);
        if (lstat(texts[i], &st)) continue;
        add_record(walked, n, &st, AT_FDCWD, texts[i]);
        int fd = open(texts[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
        if (fd >= 0) walk(fd, n);
    }
    uint64_t now = token_of_records();
    if (now != token) send_records(id);
    send_frame('D', id, &now, 8);
}

// ---- connections to the proxy outside

static void open_port(void) {
    if (listener >= 0) return;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PROXY_PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd >= 0 && !bind(fd, (void *)&address, sizeof address) && !listen(fd, 32)) listener = fd;
    else if (fd >= 0) close(fd);
}

static void end_link(int i, int tell) {
    close(links[i].fd);
    if (tell) send_frame('c', links[i].id, NULL, 0);
    links[i].id = 0;
}

static void accept_link(void) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct timeval bound = {2, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    for (int i = 0; i < LINKS; i++)
        if (!links[i].id) {
            links[i].id = next_link++; links[i].fd = fd;
            send_frame('n', links[i].id, NULL, 0);
            return;
        }
    close(fd);
}

static void from_link(int i) {
    static uint8_t data[CHUNK];
    ssize_t n = read(links[i].fd, data, sizeof data);
    if (n > 0) send_frame('b', links[i].id, data, n);
    else end_link(i, 1);
}

static void to_link(char kind, uint32_t id, const uint8_t *body, size_t size) {
    for (int i = 0; i < LINKS; i++) {
        if (links[i].id != id || !id) continue;
        if (kind == 'c') { end_link(i, 0); return; }
        while (size) {
            ssize_t n = write(links[i].fd, body, size);
            if (n <= 0) { end_link(i, 1); return; }
            body += n; size -= n;
        }
        return;
    }
}

// ---- the loop

static void answer(char kind, uint32_t id, const uint8_t *body, size_t size) {
    struct stat st;
    switch (kind) {
    case 'R': if (take_strings(body, size)) break; run(id); return;
    case 'K': if (size != 1) break; kill_jobs(id, body[0] == 1); return;
    case 'S': if (size < 8 || take_strings(body + 8, size - 8)) break; scan(id, get64(body)); return;
    case 'G': if (size < 16 || take_strings(body + 16, size - 16) || text_count != 1) break;
        get(id, get64(body), get64(body + 8), texts[0]); return;
    case 'L': if (take_strings(body, size) || text_count != 1) break; list(id, texts[0]); return;
    case 'T': if (take_strings(body, size) || text_count != 1) break;
        if (stat(texts[0], &st)) { fail(id, errno, texts[0]); return; }
        reset_records(); add_record("", 0, &st, AT_FDCWD, texts[0]); send_records(id); send_frame('D', id, NULL, 0); return;
    case 'B': apply(id, body, size); return;
    case 'P':
        if (size && body[0] == '1') open_port();
        if (size && body[0] == 's') sync();
        if (size >= 9 && body[0] == 't') {  // the clock: a paused machine is behind
            struct timespec now = {get64(body + 1) / 1000000000, get64(body + 1) % 1000000000};
            clock_settime(CLOCK_REALTIME, &now);
        }
        send_frame('D', id, NULL, 0); return;
    case 'b': case 'c': to_link(kind, id, body, size); return;
    }
    fail(id, EINVAL, "request");
}

// Takes what is whole out of the held bytes; a frame that breaks the form ends the agent.
static void take(void) {
    size_t at = 0;
    while (held - at >= 9) {
        uint32_t size = get32(in + at);
        if (size < 5 || size > MOST) { sync(); if (getpid() == 1) reboot(RB_POWER_OFF); _exit(1); }
        if (held - at < size + 4) break;
        answer(in[at + 4], get32(in + at + 5), in + at + 9, size - 5);
        at += size + 4;
    }
    memmove(in, in + at, held - at);
    held -= at;
}

static void wake(int number) { int code = errno; (void)number; (void)!write(woken[1], "", 1); errno = code; }

static void serve(void) {
    char hello[] = "\0\0\0\0drydock-agent 1 c";
    static struct pollfd fds[JOBS * 2 + LINKS + 3];
    static struct { int kind, index; } whose[JOBS * 2 + LINKS + 3];
    (void)!pipe2(woken, O_CLOEXEC | O_NONBLOCK);
    signal(SIGCHLD, wake);
    signal(SIGPIPE, SIG_IGN);
    put32((uint8_t *)hello, sizeof hello - 5);
    send_frame('H', 0, hello, sizeof hello - 1);
    int alone = 0;
    for (;;) {
        int n = 0;
#define WATCH(f, k, i) (fds[n].fd = (f), fds[n].events = POLLIN, fds[n].revents = 0, whose[n].kind = (k), whose[n].index = (i), n++)
        WATCH(source, 0, 0);
        WATCH(woken[0], 1, 0);
        if (listener >= 0) WATCH(listener, 2, 0);
        for (int i = 0; i < JOBS; i++) {
            if (jobs[i].id && jobs[i].out >= 0) WATCH(jobs[i].out, 3, i);
            if (jobs[i].id && jobs[i].err >= 0) WATCH(jobs[i].err, 4, i);
        }
        for (int i = 0; i < LINKS; i++) if (links[i].id) WATCH(links[i].fd, 5, i);
        if (poll(fds, n, -1) < 0) continue;
        int ended = 0;
        for (int f = 1; f < n; f++) {
            int i = whose[f].index;
            if (!fds[f].revents) continue;
            switch (whose[f].kind) {
            case 1: { char drop[256]; while (read(woken[0], drop, sizeof drop) > 0); ended = 1; break; }
            case 2: accept_link(); break;
            case 3: pass(&jobs[i], &jobs[i].out, 'o'); forget(&jobs[i]); break;
            case 4: pass(&jobs[i], &jobs[i].err, 'e'); forget(&jobs[i]); break;
            case 5: from_link(i); break;
            }
        }
        if (ended) reap();
        if (fds[0].revents) {
            ssize_t got = read(source, in + held, sizeof in - held);
            if (got > 0) { held += got; alone = 0; take(); }
            else if (getpid() != 1 && got == 0) { kill_jobs(0, 1); _exit(0); }
            else if (++alone < 400) usleep(5000);
            else { sync(); reboot(RB_POWER_OFF); }  // Drydock is gone, and nobody will come back
        }
    }
}

// ---- process 1: from the kernel's hand-over to a system that can run commands

static void say(const char *text) { (void)!write(2, text, strlen(text)); }

static void load_drivers(void) {
    char name[128], path[160];
    FILE *order = fopen("/modules/order", "re");
    while (order && fscanf(order, "%127s", name) == 1) {
        snprintf(path, sizeof path, "/modules/%s", name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) { syscall(SYS_finit_module, fd, "", 0); close(fd); }
    }
    if (order) fclose(order);
}

static int find_port(void) {
    char path[64];
    for (int tries = 0; tries < 2000; tries++, usleep(2000))
        for (int i = 0; i < 4; i++) {
            snprintf(path, sizeof path, "/dev/vport%dp1", i);
            int fd = open(path, O_RDWR | O_CLOEXEC);
            if (fd >= 0) return fd;
        }
    return -1;
}

static void enter_system(void) {
    mkdir("/system", 0755);
    int bad = 1;
    for (int tries = 0; bad && tries < 1000; tries++, bad ? usleep(2000) : 0)
        bad = mount("/dev/vda", "/system", "ext4", MS_NOATIME, "");
    if (bad) { say("drydock: the disk cannot be mounted\n"); reboot(RB_POWER_OFF); }
    const char *kept[] = {"/proc", "/sys", "/dev"};
    for (int i = 0; i < 3; i++) {
        char target[32];
        snprintf(target, sizeof target, "/system%s", kept[i]);
        mount(kept[i], target, NULL, MS_MOVE, NULL);
    }
    if (chdir("/system") || mount("/system", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/")) say("drydock: no root\n");
    mount("tmp", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=40%");
    mount("run", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=10%");
    mkdir("/dev/pts", 0755); mkdir("/dev/shm", 01777);
    mount("devpts", "/dev/pts", "devpts", 0, "");
    mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=25%");
    symlink("/proc/self/fd", "/dev/fd"); symlink("/proc/self/fd/0", "/dev/stdin");
    symlink("/proc/self/fd/1", "/dev/stdout"); symlink("/proc/self/fd/2", "/dev/stderr");
}

static void prepare_groups(void) {
    mount("cgroup", "/sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, "");
    write_text("/sys/fs/cgroup/cgroup.subtree_control", "+pids +memory");
    has_cgroups = !mkdir("/sys/fs/cgroup/jobs", 0755) || errno == EEXIST;
    write_text("/sys/fs/cgroup/jobs/cgroup.subtree_control", "+pids +memory");
    char line[128];
    unsigned long kib = 0;
    FILE *info = fopen("/proc/meminfo", "re");
    if (info && fgets(line, sizeof line, info)) sscanf(line, "MemTotal: %lu", &kib);
    if (info) fclose(info);
    if (kib > 98304) {  // what commands use leaves room for the kernel and for this agent
        snprintf(line, sizeof line, "%lu", (kib - 49152) * 1024);
        write_text("/sys/fs/cgroup/jobs/memory.max", line);
    }
    // Root is bound by no limit of its own: without groups the whole machine has one.
    int has_pids = has_cgroups && !write_text("/sys/fs/cgroup/jobs/pids.max", "2048");
    has_bound = !has_pids && !write_text("/proc/sys/kernel/threads-max", "1024");
    write_text("/proc/self/oom_score_adj", "-1000");
}

static void raise_loopback(void) {
    struct { char name[16]; short flags; char rest[22]; } request = {"lo", 0x41, {0}};  // IFF_UP | IFF_RUNNING
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    syscall(SYS_ioctl, fd, 0x8914, &request);  // SIOCSIFFLAGS
    close(fd);
}

int main(int argc, char **argv) {
    if (getpid() != 1) {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        as_text = argc == 3 && !strcmp(argv[1], "text");
        source = as_text ? open(argv[2], O_RDWR) : dup(0);  // a pipe with a name never ends
        sink = dup(1);
        if (source < 0) return 1;
        fcntl(source, F_SETFD, FD_CLOEXEC); fcntl(sink, F_SETFD, FD_CLOEXEC);
        if (as_text) prepare_groups();
        serve();
    }
    umask(022);
    mkdir("/proc", 0755); mkdir("/sys", 0755); mkdir("/dev", 0755);
    mount("proc", "/proc", "proc", 0, ""); mount("sys", "/sys", "sysfs", 0, ""); mount("dev", "/dev", "devtmpfs", 0, "");
    load_drivers();
    source = sink = find_port();
    if (source < 0) { say("drydock: no port\n"); reboot(RB_POWER_OFF); }
    enter_system();
    prepare_groups();
    raise_loopback();
    sethostname("workspace", 9);
    setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    serve();
}
