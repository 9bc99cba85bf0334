/*
 * The server, for the files of this folder.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_SERVE_INSIDE_H
#define SERVE_SERVE_INSIDE_H

#include "serve/answer.h"
#include "serve/request_log.h"
#include "serve/serve.h"
#include "serve/sockets.h"
#include "serve/token.h"
#include "serve/visitors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define SERVER_STATUS_MAX 600

/* Commands of which few may run at once. */
enum server_kind {
    SERVER_OTHERS,
    SERVER_LOADS,
    SERVER_SCRIPTS, /* also shells, while they run something */
    SERVER_SHELLS,
    SERVER_UPKEEP,
    SERVER_REDUCTIONS, /* for peers: no commands */
    SERVER_KIND_COUNT,
};

/* A socket that requests come through. */
struct door {
    struct server *server;
    struct MHD_Daemon *daemon; /* NULL: closed */
    bool is_local;             /* the Unix socket */
    bool has_tls;
};

struct server {
    struct colander_store *store; /* borrowed */
    struct server_options options;
    struct token token;
    struct store_socket socket;
    char address[ADDRESS_TEXT_SIZE];
    struct door local;
    struct door network;
    struct workers *workers;
    struct workers *runners;      /* of commands; NULL: none are run */
    struct workers *peer_workers; /* of what peers ask; NULL: `workers` */
    struct visitors *visitors;
    struct answers answers;
    struct request_log *log; /* NULL: none */
    time_t start;

    pthread_mutex_t lock;
    pthread_cond_t has_fewer;                /* answers */
    uint32_t answer_count;                   /* under way */
    uint32_t command_count;                  /* of these, commands */
    uint32_t kind_counts[SERVER_KIND_COUNT]; /* of these, of each kind */
    struct asks *asks;                       /* of the commands: a list */
    bool is_ending;

    atomic_uint_fast64_t statuses[SERVER_STATUS_MAX]; /* replies with each */
    atomic_uint_fast64_t row_count;                   /* rows of answers */
    atomic_uint_fast64_t loads_ended;
    atomic_uint_fast64_t loaded_row_count;
    atomic_uint_fast64_t rejected_count;
};

#endif
