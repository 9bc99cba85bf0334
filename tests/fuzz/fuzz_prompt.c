/*
 * Any bytes as input piped into the shell: lines of Lua, which may belong
 * together, and dot commands with their arguments. Nothing crashes, leaks, or
 * exceeds its memory limit, and the shell ends.
 *
 * No argument leads out of the target's directory. Whatever runs for too long
 * is ended as by Ctrl-C. Scripts have fewer functions than in the shell, as in
 * fuzz_lua.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/store.h"
#include "shell/command.h"
#include "shell/entries.h"
#include "shell/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>

#define MEMORY_MAX ((size_t)32 << 20) /* of Lua */
#define SECONDS_MAX 1                 /* of all processors */

/* ----------------------------------------------------------------- time --- */

/* Sends the signal of Ctrl-C after the seconds; 0: cancels it. */
static void
set_alarm(time_t seconds)
{
    static timer_t timer;
    static bool is_made;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGINT};
    const struct itimerspec time = {.it_value.tv_sec = seconds};

    if (!is_made) {
        interrupt_install();
        expect(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0);
        is_made = true;
    }
    expect(timer_settime(timer, 0, &time, NULL) == 0);
}

/* A second Ctrl-C within a second would end the process. */
static void
forget_alarm(void)
{
    set_alarm(0);
    if (interrupt_happened())
        (void)sleep(2);
    interrupt_forget();
}

/* ---------------------------------------------------------------- shell --- */

/* Changes to an empty directory, where commands may write files, with an empty
 * standard input. */
static void
enter_directory(void)
{
    char path[TEMPORARY_SIZE + 8];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/files", fuzz_directory);
    temporary_remove(path);
    expect(mkdir(path, 0700) == 0 && chdir(path) == 0);
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    expect(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    expect(close(fd) == 0);
}

/* Removes functions that no limit of this process can end. */
static void
limit_scripts(struct interpreter *interpreter)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    FILE *file = fopen(FUZZ_FOLDER "/lua_limits.lua", "re");
    size_t size;

    expect(file != NULL);
    OK(colander_buffer_reserve(&text, 65536, NULL));
    size = fread(text.data, 1, 65536, file);
    expect(fclose(file) == 0);
    expect(interpreter_run_script(interpreter, "limits",
                                  colander_slice_of(text.data, size), NULL,
                                  0) == SESSION_FINE);
    colander_buffer_release(&text);
}

static void
run(struct colander_slice text)
{
    struct session session = {.commands = commands_all};
    struct interpreter *interpreter;
    struct entries entries;
    FILE *file = fmemopen((void *)(uintptr_t)text.data, text.size, "r");

    session.store = fuzz_store;
    session.path = "store";
    expect(file != NULL);
    OK(interpreter_create(&session, MEMORY_MAX, &interpreter, NULL));
    limit_scripts(interpreter);
    entries_init(&entries, &session, interpreter);
    set_alarm(SECONDS_MAX);
    (void)entries_run_file(&entries, file, "input");
    forget_alarm();
    (void)fflush(stdout);
    if (entries.stdout_fd >= 0)
        expect(dup2(entries.stdout_fd, STDOUT_FILENO) == STDOUT_FILENO);
    entries_release(&entries);
    interpreter_destroy(interpreter);
    expect(fclose(file) == 0);
}

/* -------------------------------------------------------------- target --- */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int home = -1; /* where the fuzzer keeps its files */
    char *text;

    if (home < 0)
        home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (size == 0 || memmem(data, size, "pager", 5) != NULL)
        return 0; /* a pager is a program */
    fuzz_store_prepare();
    enter_directory();
    text = (char *)fuzz_copy(data, size);
    for (size_t i = 0; i < size; i++)
        text[i] = data[i] == '/' ? '_' : text[i];
    run(colander_slice_of(text, size));
    free(text);
    expect(fchdir(home) == 0);
    return 0;
}
