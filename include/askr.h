/* askr's queue for C and whatever speaks C. Made from src/capi.rs by `cargo xtask header`; not edited by
   hand. Every function that can fail returns ASKR_OK, ASKR_NONE or the number of an error, whose text
   askr_last_error() then has. A handle belongs to the process and the thread that opened it. */

#ifndef ASKR_H
#define ASKR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// It was done.
#define ASKR_OK 0

// There was no job, or none that the call could change. Not an error.
#define ASKR_NONE -1

// An argument that no store could serve.
#define ASKR_INVALID_ARGUMENT 1

// The database's lock was not to be had in time; nothing was changed, safe to try again.
#define ASKR_BUSY 2

// Whether the change was stored is not known; must not be retried blindly.
#define ASKR_UNCERTAIN 3

// There is no room; nothing was changed.
#define ASKR_FULL 4

// The database cannot be opened or trusted.
#define ASKR_UNAVAILABLE 5

// The database's content is damaged.
#define ASKR_CORRUPT 6

// A fault of askr itself.
#define ASKR_INTERNAL 7

// In place of a claim's number: whatever claim holds the job.
#define ASKR_ANY_CLAIM 0

// An open queue.
typedef struct AskrQueue AskrQueue;

// Bytes that the caller owns and that live as long as the call; `data` may be null when `length` is 0.
typedef struct AskrBytes {
  // The first byte.
  const uint8_t *data;
  // How many.
  uintptr_t length;
} AskrBytes;

// A claimed job. Its payload belongs to askr until `askr_job_free`.
typedef struct AskrJob {
  // The job's id.
  int64_t id;
  // Claims so far, this one included; with the id it names this claim.
  int64_t attempts;
  // How often the job is handed out at most.
  int64_t max_attempts;
  // Unix seconds at which the claim lapses.
  int64_t reserved_until;
  // Unix seconds of the push.
  int64_t created_at;
  // The payload's first byte.
  uint8_t *payload;
  // The payload's length.
  uintptr_t payload_length;
} AskrJob;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The text of this thread's last error; empty before the first. Valid until this thread's next call.
const char *askr_last_error(void);

// Opens the queue in the SQLite database at `path`, creating what is missing. `busy_timeout_ms` is how long
// a statement waits for the database's lock; `synchronous_full` whether each commit survives a power
// cut. Null on an error.
//
// # Safety
// `path` is a C string.
struct AskrQueue *askr_queue_open(const char *path, uint32_t busy_timeout_ms, bool synchronous_full);

// Closes the queue. Null is allowed.
//
// # Safety
// `queue` came from `askr_queue_open` and is not used again.
void askr_queue_close(struct AskrQueue *queue);

// Stores a job, claimable in `delay` seconds, and writes its id to `id`, which may be null.
//
// # Safety
// `queue` is open; `name` and `payload` describe readable bytes; `id` is null or writable.
int32_t askr_queue_push(struct AskrQueue *queue,
                        struct AskrBytes name,
                        struct AskrBytes payload,
                        int64_t delay,
                        int64_t priority,
                        int64_t max_attempts,
                        int64_t *id);

// Claims the next job for `visibility` seconds and describes it in `job`; `ASKR_NONE` when none is ready.
//
// # Safety
// `queue` is open; `name` describes readable bytes; `job` is writable.
int32_t askr_queue_pop(struct AskrQueue *queue,
                       struct AskrBytes name,
                       int64_t visibility,
                       struct AskrJob *job);

// Gives a claimed job's payload back to askr. The claim is not touched. A job that was freed is left
// without payload, so that freeing it again does nothing.
//
// # Safety
// `job` was filled by `askr_queue_pop`, or is null.
void askr_job_free(struct AskrJob *job);

// Acknowledges a job. `attempts` is the claim that must still hold it, or `ASKR_ANY_CLAIM`.
//
// # Safety
// `queue` is open.
int32_t askr_queue_delete(struct AskrQueue *queue, int64_t id, int64_t attempts);

// Gives a job back, claimable again in `delay` seconds. `attempts` as in `askr_queue_delete`.
//
// # Safety
// `queue` is open.
int32_t askr_queue_release(struct AskrQueue *queue, int64_t id, int64_t delay, int64_t attempts);

// Extends a live claim to `visibility` seconds from now. `attempts` as in `askr_queue_delete`.
//
// # Safety
// `queue` is open.
int32_t askr_queue_renew(struct AskrQueue *queue, int64_t id, int64_t visibility, int64_t attempts);

// Moves a job to the dead letters with the reason `exception`, which may be empty. `attempts` as in
// `askr_queue_delete`.
//
// # Safety
// `queue` is open; `exception` describes readable bytes.
int32_t askr_queue_fail(struct AskrQueue *queue, int64_t id, struct AskrBytes exception, int64_t attempts);

// Writes how many jobs of the queue can be claimed now to `ready`.
//
// # Safety
// `queue` is open; `name` describes readable bytes; `ready` is writable.
int32_t askr_queue_size(struct AskrQueue *queue, struct AskrBytes name, int64_t *ready);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ASKR_H */
