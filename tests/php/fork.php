<?php

/* A connection belongs to one process: what a fork inherits is neither used nor closed by the child. */

declare(strict_types=1);

/** The files that this process has open and whose names begin with the database's. */
function open_files(): array
{
    // A closed descriptor of this very listing answers false.
    $names = array_filter(array_map(fn ($fd) => @readlink($fd), glob('/proc/self/fd/*')));

    return array_values(array_filter($names, fn ($name) => str_starts_with($name, db())));
}

function push_many(int $jobs): void
{
    for ($i = 0; $i < $jobs; $i++) {
        askr_queue_push('q', 'x');
    }
}

return on_both_tiers([
    'a child that ends at once, one that works, one that is killed' => function () {
        $expected = 0;
        $children = [
            'ends at once' => [fn () => null, 0, 0],
            'pushes 100' => [fn () => push_many(100), 100, 0],
            'pushes one and is killed' => [fn () => [push_many(1), posix_kill(getmypid(), SIGKILL)], 1, -SIGKILL],
            'pops, deletes and pushes' => [fn () => [askr_queue_delete(askr_queue_pop('q')['id']), push_many(51)], 50, 0],
        ];
        foreach ($children as $what => [$child, $jobs, $status]) {
            push_many(10);
            $pid = fork($child);
            push_many(100);
            same($status, join_fork($pid), "child that $what");
            push_many(1);
            $expected += 111 + $jobs;
            same($expected, askr_queue_stats('q')['total'], "jobs after a child that $what");
        }
        same((string) $expected, answer('echo askr_queue_stats("q")["total"];'), 'jobs, from outside');
        sound();
    },

    'many generations at once' => function () {
        push_many(1);
        $work = function (int $depth) use (&$work): void {
            push_many(5);
            $children = $depth > 0 ? [fork(fn () => $work($depth - 1)), fork(fn () => $work($depth - 1))] : [];
            push_many(5);
            foreach ($children as $child) {
                same(0, join_fork($child), 'child');
            }
        };
        $work(4);
        same(1 + 31 * 10, askr_queue_size('q'), 'jobs');
        sound();
    },

    'a child does not keep its parent\'s heartbeat' => function () {
        $id = askr_queue_push('q', 'x');
        $job = askr_queue_pop('q', 2);
        same(true, askr_heartbeat_start($id, 2), 'started');
        $children = [];
        for ($i = 0; $i < 20; $i++) {
            $children[] = fork(function () use ($id) {
                same(false, askr_heartbeat_alive($id), 'alive in the child');
                push_many(1);
            });
            // At many points of a renewal.
            usleep(random_int(0, 100_000));
        }
        foreach ($children as $child) {
            same(0, join_fork($child), 'child');
        }
        $start = time();
        until(fn () => time() > $start + 3, 'longer than the reservation');
        same(true, askr_heartbeat_alive($id), 'alive in the parent');
        same(true, askr_queue_delete($id, $job['attempts']), 'acknowledged');
        same(20, askr_queue_size('q'), 'jobs of the children');
        sound();
    },

    'a child that ends at once, before the queue was used' => function () {
        $start = microtime(true);
        answer('$p = pcntl_fork(); if (!$p) exit(0); pcntl_wait($s); echo $s;');
        holds(microtime(true) - $start < 5, 'nobody waits for a thread that is gone');
    },
]) + [
    'a child inherits no connection' => function () {
        push_many(1);
        holds(in_array(db() . '-wal', open_files(), true), 'the parent has the log open');
        $child = fork(function () {
            // The parent's lock on the database is a descriptor that the child leaves alone.
            same([db()], open_files(), 'open files of the child');
            push_many(1);
            holds(in_array(db() . '-wal', open_files(), true), 'the child opens its own');
        });
        same(0, join_fork($child), 'child');
        same([db()], open_files(), 'open files of the parent, which opens anew when it needs to');
        same(2, askr_queue_size('q'), 'jobs');
    },

    'the lock on the database outlives the child that inherited it' => function () {
        push_many(1);
        same(0, join_fork(fork(fn () => push_many(1))), 'child');
        $worker = php('
            askr_queue_push("q", "x");
            if (!pcntl_fork()) {
                askr_queue_push("q", "x");
                exit(0);
            }
            pcntl_wait($status);
            askr_queue_push("q", "x");
            hash_file("md5", ini_get("askr.queue_db"));
            echo "ready\n";
            fgets(STDIN);
            askr_queue_push("q", "x");
            posix_kill(getmypid(), SIGKILL);
        ')->says('ready');
        // Takes the files for unused and removes the log, if no lock is left.
        sql('SELECT count(*) FROM askr_jobs');
        $worker->tell('go on');
        same(-SIGKILL, $worker->wait(), $worker->output());
        same('6', answer('echo askr_queue_size("q");'), 'jobs');
    },
];
