/* Drains a queue by askr's C interface: claims every job that is ready, prints it, acknowledges it.
 *
 *   drain DATABASE QUEUE
 *
 * Prints a line a job: its id, its attempts and its payload in hexadecimal, with tabs between. */

#include <stdio.h>
#include <string.h>

#include "askr.h"

static int complain(const char *what) {
    fprintf(stderr, "%s: %s\n", what, askr_last_error());
    return 1;
}

static int drain(struct AskrQueue *queue, struct AskrBytes name) {
    for (;;) {
        struct AskrJob job;
        int32_t outcome = askr_queue_pop(queue, name, 60, &job);
        if (outcome == ASKR_NONE) {
            return 0;
        }
        if (outcome != ASKR_OK) {
            return complain("pop");
        }
        printf("%lld\t%lld\t", (long long)job.id, (long long)job.attempts);
        for (uintptr_t i = 0; i < job.payload_length; i++) {
            printf("%02x", job.payload[i]);
        }
        printf("\n");
        askr_job_free(&job);
        outcome = askr_queue_delete(queue, job.id, job.attempts);
        if (outcome != ASKR_OK) {
            return outcome == ASKR_NONE ? complain("the claim was lost") : complain("delete");
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s DATABASE QUEUE\n", argv[0]);
        return 2;
    }
    struct AskrQueue *queue = askr_queue_open(argv[1], 5000, true);
    if (queue == NULL) {
        return complain("open");
    }
    struct AskrBytes name = {(const uint8_t *)argv[2], strlen(argv[2])};
    int failed = drain(queue, name);
    askr_queue_close(queue);
    return failed;
}
