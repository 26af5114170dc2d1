<?php

/* The write-ahead log stays small, and no call leaves a statement open that would keep it from being reset. */

declare(strict_types=1);

return [
    'after each call another program can checkpoint the whole log' => function () {
        $shell = shell();
        $calls = [
            fn () => askr_queue_push('q', 'x'),
            fn () => askr_queue_push_many('q', ['x', 'y', 'z', 'a', 'b']),
            fn () => askr_queue_pop('nobody'),
            fn () => askr_queue_pop('q', 60, 0.1),
            fn () => askr_queue_size('q'),
            fn () => askr_queue_stats('q'),
            fn () => askr_queue_names(),
            fn () => askr_queue_list('q', 'pending', 1),
            fn () => askr_queue_renew(1),
            fn () => askr_queue_release(1),
            fn () => askr_queue_fail(1, null, 'x'),
            fn () => askr_queue_delete(2),
            fn () => askr_failed_list(1),
            fn () => askr_failed_find(1),
            fn () => askr_failed_retry(1),
            fn () => askr_failed_forget(1),
            fn () => askr_failed_flush(),
            fn () => askr_queue_clear('q'),
        ];
        foreach ($calls as $at => $call) {
            $call();
            // "busy, frames in the log, frames moved"
            same('0|0|0', ask($shell, 'PRAGMA wal_checkpoint(TRUNCATE);'), "checkpoint after call $at");
        }
    },

    'the log of a busy queue stays within a few MB' => function () {
        $largest = 0;
        for ($round = 0; $round < 60; $round++) {
            askr_queue_push_many('q', array_fill(0, 300, str_repeat('x', 1000)));
            askr_queue_clear('q');
            clearstatcache();
            $largest = max($largest, filesize(db() . '-wal'));
        }
        holds($largest < 8 << 20, "at most $largest bytes, of more than 18 MB that were written");
    },

    'the log that a long reader let grow is used anew when the reader is gone' => function () {
        askr_queue_push('q', 'x');
        $reader = shell();
        same('1', ask($reader, 'BEGIN; SELECT count(*) FROM askr_jobs;'), 'the reader reads');
        $write = function (): int {
            askr_queue_push_many('q', array_fill(0, 300, str_repeat('x', 1000)));
            askr_queue_clear('q');
            clearstatcache();

            return filesize(db() . '-wal');
        };
        for ($size = 0; $size < 12 << 20; $size = $write());
        ask($reader, 'COMMIT;');
        for ($round = 0; $round < 20; $round++) {
            $after = $write();
        }
        holds($after < $size + (2 << 20), "$size bytes, then $after after 20 rounds more");
    },
];
