/*
 * The life of a server: its sockets, its token, its start and its end.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/served.h"

#include "serve/token.h"

#include <sys/stat.h>
#include <sys/wait.h>

static void
in_store(const struct served *served, const char *name, char *path)
{
    (void)snprintf(path, TEMPORARY_SIZE + 32, "%s/%s", served->directory, name);
}

SERVED_TEST(only_the_user_can_open_the_socket)
{
    char path[TEMPORARY_SIZE + 32];
    struct stat status;

    served_start(served);
    in_store(served, SERVER_SOCKET, path);
    ZERO(stat(path, &status));
    assert_true(S_ISSOCK(status.st_mode));
    assert_int_equal(status.st_mode & 0777, 0600);
}

/* Root tries it as another user, with modes that let it connect. */
SERVED_TEST(another_user_who_connects_is_refused)
{
    char path[TEMPORARY_SIZE + 32];
    int status = 0;
    pid_t child;

    if (geteuid() != 0)
        skip();
    served_start(served);
    in_store(served, SERVER_SOCKET, path);
    ZERO(chmod(served->directory, 0755));
    ZERO(chmod(path, 0666));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *request = "GET /stats HTTP/1.1\r\nHost: x\r\n\r\n";
        char reply[16] = "";
        int fd = setuid(65534) != 0 ? -1 : client_connect(served->directory);

        if (fd < 0 || write(fd, request, strlen(request)) < 0 ||
            read(fd, reply, sizeof(reply) - 1) < 12)
            _exit(99);
        _exit(memcmp(reply, "HTTP/1.1 403", 12) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

SERVED_TEST(a_socket_that_was_left_is_replaced)
{
    const struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[TEMPORARY_SIZE + 32];
    struct sockaddr_un left = address;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    in_store(served, SERVER_SOCKET, path);
    assert_true(strlen(path) < sizeof(left.sun_path));
    memcpy(left.sun_path, path, strlen(path) + 1);
    ZERO(bind(fd, (const struct sockaddr *)&left, sizeof(left)));
    ZERO(close(fd));
    assert_int_equal(client_connect(served->directory), -1);
    served_start(served);
    assert_int_equal(client_status(served, "/health"), 200);
}

SERVED_TEST(the_socket_goes_with_the_server)
{
    served_start(served);
    served_stop(served);
    assert_int_equal(client_connect(served->directory), -1);
    served_start(served); /* and may come again */
    assert_int_equal(client_status(served, "/health"), 200);
}

/* A path of a socket has 107 bytes. */
SERVED_TEST(the_path_of_a_store_may_be_long)
{
    char path[TEMPORARY_SIZE];

    served_close(served);
    memcpy(path, served->directory, sizeof(path));
    for (int i = 0; i < 3; i++) {
        const size_t size = strlen(served->directory);

        (void)snprintf(served->directory + size, sizeof(path) - size, "/%050d",
                       i);
        ZERO(i < 2 ? mkdir(served->directory, 0700) : 0);
    }
    assert_true(strlen(served->directory) > 150);
    served_open(served);
    served_start(served);
    assert_int_equal(client_status(served, "/health"), 200);
    served_close(served);
    memcpy(served->directory, path, sizeof(path));
}

SERVED_TEST(a_store_has_one_server)
{
    struct served other = {.options = served->options};

    served->options.read_only = other.options.read_only = "it is";
    served_start(served);
    other.store = served->store;
    FAILS(server_start(other.store, &other.options, &other.server, why()),
          COLANDER_BUSY);
    assert_null(other.server);
    assert_int_equal(client_status(served, "/health"), 200);
}

SERVED_TEST(an_address_is_checked)
{
    static const char *const wrong[] = {
        "",
        "7411",
        ":7411",
        "localhost:7411",
        "::1:0",
        "[::1]",
        "127.0.0.1:",
        "127.0.0.1:70000",
        "1.2.3:0",
        "[x]:0",
        "127.0.0.1:7411x",
        "127.0.0.1 :0",
        "[::1:0",
        "::1]:7411",
        "http://127.0.0.1:0",
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        served->options.address = wrong[i];
        if (server_start(served->store, &served->options, &served->server,
                         why()) != COLANDER_INVALID)
            fail_msg("'%s' is an address", wrong[i]);
        assert_null(served->server);
    }
}

SERVED_TEST(an_address_needs_a_token)
{
    served->options.token = NULL;
    FAILS(server_start(served->store, &served->options, &served->server, why()),
          COLANDER_INVALID);
    served->options.token = "short";
    FAILS(server_start(served->store, &served->options, &served->server, why()),
          COLANDER_INVALID);
    served->options.address = NULL;
    served->options.token = NULL;
    served_start(served);
    assert_null(server_address(served->server));
}

SERVED_TEST(a_port_that_is_taken_is_an_error)
{
    struct served other = {.options = served->options};
    char path[TEMPORARY_SIZE];

    served_start(served);
    temporary_make(path);
    OK(colander_store_open(path, NULL, &other.store, why()));
    other.options.address = server_address(served->server);
    FAILS(server_start(other.store, &other.options, &other.server, why()),
          COLANDER_IO);
    OK(colander_store_close(other.store, why()));
    temporary_remove(path);
}

SERVED_TEST(an_end_closes_idle_connections)
{
    int local, network;
    char byte;

    served_start(served);
    local = client_local(served);
    network = client_network(served);
    client_say(local, "GET /health HT");
    served_stop(served);
    assert_int_equal(client_read(local, &byte, 1), 0);
    assert_int_equal(client_read(network, &byte, 1), 0);
    ZERO(close(local));
    ZERO(close(network));
}

/* ---------------------------------------------------------------- token --- */

static void
write_file(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    ZERO(fchmod(fd, mode));
    ZERO(close(fd));
}

SERVED_TEST(a_token_is_read_from_a_file_of_its_owner)
{
    char path[TEMPORARY_SIZE + 32];
    char longer[400];
    struct token token;

    in_store(served, "token", path);
    FAILS(token_read(path, &token, why()), COLANDER_NOT_FOUND);
    write_file(path, SERVED_TOKEN "\n", 0600);
    OK(token_read(path, &token, why()));
    assert_string_equal(token.text, SERVED_TOKEN);
    write_file(path, SERVED_TOKEN "\r\n", 0640); /* as systemd passes it */
    OK(token_read(path, &token, why()));
    assert_string_equal(token.text, SERVED_TOKEN);
    write_file(path, SERVED_TOKEN, 0660);
    FAILS(token_read(path, &token, why()), COLANDER_INVALID);
    write_file(path, SERVED_TOKEN, 0604);
    FAILS(token_read(path, &token, why()), COLANDER_INVALID);
    write_file(path, "short\n", 0600);
    FAILS(token_read(path, &token, why()), COLANDER_INVALID);
    write_file(path, "0123456789 0123456789", 0600);
    FAILS(token_read(path, &token, why()), COLANDER_INVALID);
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    write_file(path, longer, 0600);
    FAILS(token_read(path, &token, why()), COLANDER_INVALID);
    longer[TOKEN_SIZE_MAX] = '\0';
    write_file(path, longer, 0600);
    OK(token_read(path, &token, why()));
    assert_string_equal(token.text, longer);
    memcpy(longer + TOKEN_SIZE_MAX, "\r\n", 3);
    write_file(path, longer, 0600);
    OK(token_read(path, &token, why()));
    assert_int_equal(strlen(token.text), TOKEN_SIZE_MAX);
    memcpy(longer + TOKEN_SIZE_MAX, "a\n", 3);
    write_file(path, longer, 0600);
    FAILS(token_read(path, &token, why()), COLANDER_INVALID);
    write_file(path, SERVED_TOKEN "\n\nmore", 0600);
    FAILS(token_read(path, &token, why()), COLANDER_INVALID);
    FAILS(token_read(served->directory, &token, why()), COLANDER_INVALID);
}

SERVED_TEST(a_new_token_is_drawn_once)
{
    char path[TEMPORARY_SIZE + 32];
    struct token first, second;
    struct stat status;

    in_store(served, "token", path);
    OK(token_create(path, &first, why()));
    ZERO(stat(path, &status));
    assert_int_equal(status.st_mode & 0777, 0600);
    FAILS(token_create(path, &second, why()), COLANDER_EXISTS);
    OK(token_read(path, &second, why()));
    assert_string_equal(first.text, second.text);
    ZERO(unlink(path));
    OK(token_create(path, &second, why()));
    assert_string_not_equal(first.text, second.text);
}

TEST(tokens_are_equal_only_as_a_whole)
{
    struct token token;
    char other[sizeof(token.text) + 1];

    memcpy(token.text, SERVED_TOKEN, sizeof(SERVED_TOKEN));
    assert_true(token_equals(&token, SERVED_TOKEN));
    assert_false(token_equals(&token, ""));
    assert_false(token_equals(&token, SERVED_TOKEN "0"));
    for (size_t i = 0; i < strlen(SERVED_TOKEN); i++) {
        memcpy(other, SERVED_TOKEN, sizeof(SERVED_TOKEN));
        other[i] ^= 1;
        assert_false(token_equals(&token, other));
        other[i] = '\0';
        assert_false(token_equals(&token, other));
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
