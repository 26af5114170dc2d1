<?php

/* Another program holds the database's write lock; and waiting for a job. */

declare(strict_types=1);

return [
    'a write that gets no lock changes nothing, and works when the lock is free' => function () {
        $holder = shell();
        $id = askr_queue_push('q', 'x');
        $job = askr_queue_pop('q');
        askr_queue_push('q', 'y');
        askr_queue_fail(askr_queue_push('q', 'z'));
        $tables = 'SELECT * FROM askr_jobs; SELECT * FROM askr_failed_jobs;';
        $before = ask($holder, "BEGIN IMMEDIATE; $tables");
        ini_set('askr.busy_timeout', '200');
        $calls = [
            'push' => fn () => askr_queue_push('q', 'x'),
            'push_many' => fn () => askr_queue_push_many('q', ['x', 'y']),
            'pop' => fn () => askr_queue_pop('q'),
            'pop, waiting' => fn () => askr_queue_pop('q', 60, 10.0),
            'delete' => fn () => askr_queue_delete($id, $job['attempts']),
            'release' => fn () => askr_queue_release($id),
            'renew' => fn () => askr_queue_renew($id),
            'fail' => fn () => askr_queue_fail($id),
            'clear' => fn () => askr_queue_clear('q'),
            'retry' => fn () => askr_failed_retry(1),
            'forget' => fn () => askr_failed_forget(1),
            'flush' => fn () => askr_failed_flush(),
        ];
        foreach ($calls as $what => $call) {
            $start = microtime(true);
            $e = thrown($call);
            $seconds = microtime(true) - $start;
            same(Askr\BusyException::class, $e::class, $what);
            same(5, $e->getCode(), "$what: SQLITE_BUSY");
            holds(str_contains($e->getMessage(), db()), "$what names the path: {$e->getMessage()}");
            // What ends a claim is tried three times.
            $tries = in_array($what, ['delete', 'release', 'renew', 'fail'], true) ? 3 : 1;
            holds($seconds >= 0.2 * $tries && $seconds < 0.2 * $tries + 3, "$what waited $seconds s");
        }
        // Whoever only reads does not wait.
        same([1, 1], [askr_queue_size('q'), count(askr_failed_list())], 'read meanwhile');
        same($before, ask($holder, "COMMIT; $tables"), 'the tables');
        foreach (['delete', 'pop', 'push', 'retry'] as $what) {
            holds((bool) $calls[$what](), "$what works again");
        }
    },

    'a write waits for a lock that is released in time' => function () {
        askr_queue_push('q', 'x');
        $holder = shell();
        ask($holder, 'BEGIN IMMEDIATE;');
        $pusher = php('echo "starts\n"; askr_queue_push("q", "waited"); echo "pushed\n";')->says('starts');
        usleep(300_000); // Nothing can be observed of a process that waits; too short only makes the test easier.
        holds(!str_contains($pusher->output(), 'pushed'), 'it waits');
        ask($holder, 'COMMIT;');
        same(0, $pusher->wait(), $pusher->output());
        same(2, askr_queue_size('q'), 'jobs');
    },

    'a pop that waits picks up what is pushed meanwhile' => function () {
        $worker = php('echo "waits\n"; $job = askr_queue_pop("q", 60, 30.0); echo "$job[payload] after ", microtime(true) - (float) $job["payload"];');
        $worker->says('waits');
        $pushed = microtime(true);
        askr_queue_push('q', (string) $pushed);
        same(0, $worker->wait(), $worker->output());
        $seconds = (float) explode('after ', $worker->output())[1];
        holds($seconds < 2, "picked up after $seconds s");
    },

    'a pop that waits ends when a signal comes, and PHP\'s handler runs' => function () {
        $worker = php('
            pcntl_async_signals(true);
            pcntl_signal(SIGTERM, function () { echo "handler\n"; });
            echo "waits\n";
            var_dump(askr_queue_pop("q", 60, 60.0));
        ')->says('waits');
        // In its sleep, so that it is the wait that the signal interrupts.
        until(fn () => str_contains((string) file_get_contents("/proc/{$worker->pid()}/stat"), ') S '), 'it sleeps');
        $start = microtime(true);
        $worker->signal(SIGTERM);
        same(0, $worker->wait(), $worker->output());
        holds(microtime(true) - $start < 5, 'at once');
        same("waits\nhandler\nNULL\n", $worker->output(), 'output');
    },

    'a signal without a handler ends a worker that waits' => function () {
        $worker = php('echo "waits\n"; askr_queue_pop("q", 60, 60.0);')->says('waits');
        $worker->signal(SIGTERM);
        same(-SIGTERM, $worker->wait(5), $worker->output());
    },
];
