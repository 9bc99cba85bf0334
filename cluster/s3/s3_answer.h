/*
 * What S3 servers answer in XML: lists, errors, uploads in parts.
 *
 * Only elements and their texts matter. Attributes, comments and what else XML
 * has are skipped. A document type is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_S3_ANSWER_H
#define CLUSTER_S3_ANSWER_H

#include "cluster/objects.h"
#include "cluster/text.h"

/* All that any answer has. Starts zeroed. */
struct s3_answer {
    struct object_list objects; /* with whole keys */
    bool is_truncated;          /* the list goes on: */
    struct text token;          /* NextContinuationToken */
    struct text upload;         /* UploadId */
    bool is_error;              /* the root is Error */
    struct text code;           /* of an error */
    struct text message;
    struct text region;
};

/* Fails with IO if it is not XML, or an element of a list is malformed. */
COLANDER_CHECKED enum colander_code s3_answer_read(struct s3_answer *answer,
                                                   struct colander_slice bytes,
                                                   struct colander_error *err);

void s3_answer_release(struct s3_answer *answer);

#endif
