<?php

/**
 * The functions and classes of the askr extension, for editors and static analysers. A test compares this
 * file with the loaded extension, in both directions.
 *
 * What holds for all of them:
 *
 * - Strings are bytes. Queue names are any bytes, at least one of them.
 * - Times are whole seconds, unless a name ends in `_ms`; moments are unix time. Seconds in arguments are
 *   between 0 and 4611686018427387903, with which "now plus seconds" can still be represented.
 * - A wrong argument is a ValueError or a TypeError; everything else that goes wrong is an Askr\Exception.
 *   `docs/exceptions.md` has the table of which function throws what.
 * - `$attempts` of a claim: (id, attempts) names one claim. With it the call holds only while that very
 *   claim holds the job. Without it the claim is meant that this process itself has on the id; for an id
 *   that it never popped, the job as it stands, whoever holds it.
 */

namespace {
    /**
     * Stores a job.
     *
     * A push that did not store the job throws; it never answers 0 or false.
     *
     * @param string $queue the queue's name, not empty
     * @param string $payload any bytes, also none
     * @param int $delay seconds until the job can be claimed
     * @param int $priority higher is claimed first; may be negative
     * @param int $max_attempts how often the job is handed out at most, 1 or more. When the last of these
     *                          claims ends without an acknowledgement, the next pop moves the job to the
     *                          dead letters
     * @return int the job's id, greater than every id before it
     * @throws ValueError
     * @throws Askr\BusyException nothing was stored; safe to try again
     * @throws Askr\UncertainException it is not known whether the job was stored
     * @throws Askr\FullException nothing was stored; the disk or the segment is full, or the payload larger than the tier can hold
     * @throws Askr\UnavailableException nothing was stored
     * @throws Askr\CorruptException
     */
    function askr_queue_push(string $queue, string $payload, int $delay = 0, int $priority = 0, int $max_attempts = 25): int {}

    /**
     * Stores many jobs in one transaction: all of them or none.
     *
     * @param string $queue the queue's name, not empty
     * @param array<array-key, string> $payloads any bytes each; an empty array stores nothing
     * @param int $delay seconds until the jobs can be claimed
     * @param int $priority higher is claimed first; may be negative
     * @param int $max_attempts how often each job is handed out at most, 1 or more
     * @return list<int> the ids, in the order of the payloads
     * @throws TypeError when a payload is no string
     * @throws ValueError
     * @throws Askr\Exception as askr_queue_push()
     */
    function askr_queue_push_many(string $queue, array $payloads, int $delay = 0, int $priority = 0, int $max_attempts = 25): array {}

    /**
     * Claims the next job: the highest priority, then the longest ready, then the smallest id.
     *
     * The job is this caller's for $visibility seconds. It is then handed out again, unless it was deleted,
     * released, failed or renewed.
     *
     * @param string $queue the queue's name, not empty
     * @param int $visibility seconds that the claim lasts; it can end up to one second early, so with 0 it
     *                        has lapsed already
     * @param float $wait seconds to wait for a job, 0 or more. Ends early, with null, when a signal arrives
     * @return array{id: int, attempts: int, payload: string, queue: string, max_attempts: int, reserved_until: int, created_at: int}|null
     *         null when nothing came ready within $wait seconds
     * @throws ValueError
     * @throws Askr\BusyException nothing was claimed, no attempt was counted; safe to try again
     * @throws Askr\Exception
     */
    function askr_queue_pop(string $queue, int $visibility = 60, float $wait = 0.0): ?array {}

    /**
     * Claims the next job of the first queue that has one, and waits for all of them at once.
     *
     * @param list<string> $queues the queues' names, in the order in which they are looked at
     * @param int $visibility as in askr_queue_pop()
     * @param float $wait as in askr_queue_pop()
     * @return array{id: int, attempts: int, payload: string, queue: string, max_attempts: int, reserved_until: int, created_at: int}|null
     * @throws ValueError also when no queue is named
     * @throws Askr\BusyException nothing was claimed, no attempt was counted; safe to try again
     * @throws Askr\Exception
     */
    function askr_queue_pop_any(array $queues, int $visibility = 60, float $wait = 0.0): ?array {}

    /**
     * Acknowledges a job: it is removed.
     *
     * @param int $id the job's id
     * @param int|null $attempts the claim that must hold the job
     * @return bool false when there is no such job, or the claim does not hold it any more
     * @throws Askr\BusyException after three tries; the job is as it was
     * @throws Askr\UncertainException it is not known whether the job was removed
     * @throws Askr\Exception
     */
    function askr_queue_delete(int $id, ?int $attempts = null): bool {}

    /**
     * Gives a job back. Its attempts stay as they are.
     *
     * @param int $id the job's id
     * @param int $delay seconds until it can be claimed again
     * @param int|null $attempts the claim that must hold the job
     * @return bool false when there is no such job, or the claim does not hold it any more
     * @throws ValueError
     * @throws Askr\Exception as askr_queue_delete()
     */
    function askr_queue_release(int $id, int $delay = 0, ?int $attempts = null): bool {}

    /**
     * Extends a live claim to $visibility seconds from now. It never revives one that has lapsed.
     *
     * @param int $id the job's id
     * @param int $visibility seconds
     * @param int|null $attempts the claim that must hold the job
     * @return bool false when there is no such job, or its claim has lapsed or is another's
     * @throws ValueError
     * @throws Askr\Exception as askr_queue_delete()
     */
    function askr_queue_renew(int $id, int $visibility = 60, ?int $attempts = null): bool {}

    /**
     * Moves a job to the dead letters, in one transaction.
     *
     * @param int $id the job's id
     * @param string|null $uuid the caller's own id for it
     * @param string|null $exception why it failed
     * @param int|null $attempts the claim that must hold the job
     * @return bool false when there is no such job, or the claim does not hold it any more
     * @throws Askr\Exception as askr_queue_delete()
     */
    function askr_queue_fail(int $id, ?string $uuid = null, ?string $exception = null, ?int $attempts = null): bool {}

    /**
     * How many jobs of the queue could be claimed now. Costs what the queue is long.
     *
     * @param string $queue the queue's name, not empty
     * @throws ValueError
     * @throws Askr\Exception
     */
    function askr_queue_size(string $queue): int {}

    /**
     * The queue's figures, all of one moment: pending + delayed + reserved = total. Costs what the queue is
     * long.
     *
     * `pending` are the jobs that could be claimed now, those with a lapsed claim among them, and `ready`
     * is another name for it. `oldest_seconds` is how long the longest-ready job has been ready, 0 when
     * none is; `oldest_pending_created_ms` when the oldest pending job was pushed, null when none is.
     *
     * @param string $queue the queue's name, not empty
     * @return array{pending: int, delayed: int, reserved: int, total: int, ready: int, oldest_seconds: int, oldest_pending_created_ms: int|null}
     * @throws ValueError
     * @throws Askr\Exception
     */
    function askr_queue_stats(string $queue): array {}

    /**
     * Every queue that holds a job, in byte order.
     *
     * @return list<string>
     * @throws Askr\Exception
     */
    function askr_queue_names(): array {}

    /**
     * Jobs of one state, oldest first, without claiming them.
     *
     * @param string $queue the queue's name, not empty
     * @param string $state `pending`, `delayed` or `reserved`
     * @param int $limit most jobs, 0 or more
     * @param int $offset jobs to pass over, 0 or more
     * @return list<array{id: int, queue: string, payload: string, priority: int, available_at: int, reserved_until: int|null, attempts: int, max_attempts: int, created_at: int}>
     * @throws ValueError
     * @throws Askr\Exception
     */
    function askr_queue_list(string $queue, string $state, int $limit = 100, int $offset = 0): array {}

    /**
     * Removes every job of the queue, claimed ones too.
     *
     * @param string $queue the queue's name, not empty
     * @return int how many
     * @throws ValueError
     * @throws Askr\Exception
     */
    function askr_queue_clear(string $queue): int {}

    /**
     * Dead letters, newest first.
     *
     * @param int $limit most of them, 0 or more
     * @param int $offset dead letters to pass over, 0 or more
     * @param string|null $queue of this queue; null: of all
     * @return list<array{id: int, uuid: string|null, queue: string, payload: string, exception: string|null, attempts: int, failed_at: int}>
     * @throws ValueError
     * @throws Askr\Exception
     */
    function askr_failed_list(int $limit = 100, int $offset = 0, ?string $queue = null): array {}

    /**
     * One dead letter.
     *
     * @param int $id the dead letter's id, which is not the job's
     * @return array{id: int, uuid: string|null, queue: string, payload: string, exception: string|null, attempts: int, failed_at: int}|null
     * @throws Askr\Exception
     */
    function askr_failed_find(int $id): ?array {}

    /**
     * Puts a dead letter back into its queue as a new job, in one transaction.
     *
     * @param int $id the dead letter's id
     * @param int $max_attempts how often the new job is handed out at most, 1 or more
     * @param int $priority the new job's priority
     * @return int the new job's id; 0 when there is no such dead letter
     * @throws ValueError
     * @throws Askr\Exception as askr_queue_push()
     */
    function askr_failed_retry(int $id, int $max_attempts = 25, int $priority = 0): int {}

    /**
     * Removes a dead letter.
     *
     * @param int $id the dead letter's id
     * @return bool whether there was one
     * @throws Askr\Exception
     */
    function askr_failed_forget(int $id): bool {}

    /**
     * Removes dead letters.
     *
     * @param int|null $older_than those that are older than so many seconds; null: all
     * @return int how many
     * @throws ValueError
     * @throws Askr\Exception
     */
    function askr_failed_flush(?int $older_than = null): int {}

    /**
     * Keeps a claim alive while its job's handler runs, also when the handler never yields: a thread renews
     * it three times within $visibility. It ends with askr_heartbeat_stop(), when this process deletes,
     * releases or fails the job, and at the end of the request.
     *
     * @param int $id the job's id
     * @param int $visibility seconds that each renewal gives the claim, 2 or more
     * @param int|null $attempts the claim; without it, the one that this process holds on the job
     * @return bool false when the claim does not hold any more; nothing was started
     * @throws ValueError also when $attempts is left out for a job that this process did not pop
     * @throws Askr\Exception
     */
    function askr_heartbeat_start(int $id, int $visibility = 60, ?int $attempts = null): bool {}

    /**
     * Whether a heartbeat runs for the job and has not found its claim lost.
     *
     * @param int $id the job's id
     * @throws Askr\UnavailableException when a setting is wrong
     */
    function askr_heartbeat_alive(int $id): bool {}

    /**
     * Ends a heartbeat. The claim stays, and lapses when nothing else renews it.
     *
     * @param int $id the job's id
     * @return bool whether there was one
     * @throws Askr\UnavailableException when a setting is wrong
     */
    function askr_heartbeat_stop(int $id): bool {}

    /**
     * What is loaded, how it is set up, and what it uses. Opens the queue's store; where that fails, `queue`
     * has the reason as `error` in place of the figures.
     *
     * `queue.tier` is `L2` when a database is set, else `L1`. Sizes are bytes; `largest_free` is the largest
     * payload that there is room for now, null where only the disk limits it; `repairs` counts since the store
     * was made. A setting's `source` is `default`, `php.ini` (also conf.d and `-d`), `php_admin_value`,
     * `script` or `environment`.
     *
     * @return array{version: string, contracts: array<string, int>, queue: array{tier?: string, path?: string, size?: int, used?: int, free?: int, largest_free?: int|null, repairs?: int, waiters?: int, error?: string}, sqlite_version: string, settings: array<string, array{value: string, source: string}>}
     */
    function askr_info(): array {}
}

namespace Askr {
    /** A fault of askr itself, and the parent of the others. The code is SQLite's extended result code, if any. */
    class Exception extends \RuntimeException {}

    /** The database's lock was not to be had in time. Nothing was changed: safe to try again. */
    class BusyException extends Exception {}

    /** Whether the change was stored is not known: it must not be retried blindly. */
    class UncertainException extends Exception {}

    /** There is no room. Nothing was changed. */
    class FullException extends Exception {}

    /** The store cannot be opened or trusted, or a setting is wrong. Nothing was changed. */
    class UnavailableException extends Exception {}

    /** The store's content is damaged. */
    class CorruptException extends Exception {}
}
