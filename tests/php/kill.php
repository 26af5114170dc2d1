<?php

/* Workers that are killed at any moment: no job is lost, none is in two places. */

declare(strict_types=1);

/** Runs workers, one after another in each of two rows, each killed at a random moment of its work. */
function kill_workers(int $kills, callable $work): void
{
    $children = [];
    for ($n = 0; $n < $kills; $n++) {
        $ready = folder("ready.$n");
        $children[] = fork(function () use ($work, $ready) {
            $first = true;
            while (true) {
                $work();
                if ($first) {
                    touch($ready);
                    $first = false;
                }
            }
        });
        // It works; and then any moment will do.
        until(function () use ($ready) {
            clearstatcache();
            return file_exists($ready);
        }, 'the worker works');
        usleep(random_int(0, 20_000));
        if (count($children) === 2) {
            $child = array_shift($children);
            posix_kill($child, SIGKILL);
            same(-SIGKILL, join_fork($child), 'killed');
        }
    }
    foreach ($children as $child) {
        posix_kill($child, SIGKILL);
        join_fork($child);
    }
}

/** The payloads of the queue's jobs, all of which are pending. */
function jobs(): array
{
    return array_column(askr_queue_list('q', 'pending', PHP_INT_MAX), 'payload');
}

/** There are so many jobs and dead letters together, each with a payload of its own. Answers the dead letters. */
function each_in_one_place(int $jobs): int
{
    $dead = array_column(askr_failed_list(PHP_INT_MAX), 'payload');
    $all = [...jobs(), ...$dead];
    same([$jobs, $jobs], [count($all), count(array_unique($all))], 'jobs, and different ones');

    return count($dead);
}

return on_both_tiers([
    'while they pop' => function () {
        askr_queue_push_many('q', array_map('strval', range(1, 200)), max_attempts: PHP_INT_MAX);
        $seen = folder('seen');
        $note = fn (array $job) => file_put_contents($seen, "$job[id] $job[attempts] $job[payload]\n", FILE_APPEND);
        kill_workers(30, function () use ($note) {
            if ($job = askr_queue_pop('q', 1)) {
                $note($job);
            }
        });
        until(function () use ($note) {
            while ($job = askr_queue_pop('q', 60)) {
                $note($job);
                askr_queue_delete($job['id'], $job['attempts']);
            }
            return askr_queue_stats('q')['total'] === 0;
        }, 'drained');
        $attempts = [];
        foreach (file($seen, FILE_IGNORE_NEW_LINES) as $line) {
            [$id, $attempt, $payload] = explode(' ', $line);
            $attempts[$payload][] = (int) $attempt;
        }
        same(200, count($attempts), 'jobs seen');
        foreach ($attempts as $job => $numbers) {
            same(count($numbers), count(array_unique($numbers)), "no claim of job $job was given twice");
        }
        holds(max(array_map('count', $attempts)) > 1, 'some were claimed again');
        sound();
    },

    'while they fail jobs' => function () {
        askr_queue_push_many('q', array_map('strval', range(1, 3000)), max_attempts: PHP_INT_MAX);
        kill_workers(20, function () {
            if ($job = askr_queue_pop('q', 0)) {
                askr_queue_fail($job['id'], null, 'because', $job['attempts']);
            }
        });
        holds(each_in_one_place(3000) > 20, 'some were moved');
        sound();
    },

    'while they retry dead letters' => function () {
        askr_queue_push_many('q', array_map('strval', range(1, 500)));
        while ($job = askr_queue_pop('q')) {
            askr_queue_fail($job['id']);
        }
        kill_workers(12, function () {
            foreach (askr_failed_list(5) as $letter) {
                askr_failed_retry($letter['id']);
            }
            if ($job = askr_queue_pop('q', 0)) {
                askr_queue_fail($job['id'], null, null, $job['attempts']);
            }
        });
        each_in_one_place(500);
        sound();
    },

    'while they release' => function () {
        $id = askr_queue_push('q', 'x', max_attempts: PHP_INT_MAX);
        $created = askr_queue_list('q', 'pending')[0]['created_at'];
        kill_workers(20, function () {
            if ($job = askr_queue_pop('q', 0)) {
                askr_queue_release($job['id'], 0, $job['attempts']);
            }
        });
        same(1, askr_queue_stats('q')['total'], 'jobs');
        $job = askr_queue_pop('q');
        same([$id, 'x', $created], [$job['id'], $job['payload'], $job['created_at']], 'the one job');
        holds($job['attempts'] > 20, 'claimed again and again');
        sound();
    },

    'while they push: what was answered is there, once' => function () {
        $answered = folder('answered');
        kill_workers(20, function () use ($answered) {
            $payload = bin2hex(random_bytes(8));
            askr_queue_push('q', $payload);
            file_put_contents($answered, "$payload\n", FILE_APPEND);
        });
        $stored = jobs();
        same(count($stored), count(array_unique($stored)), 'each once');
        same([], array_diff(file($answered, FILE_IGNORE_NEW_LINES), $stored), 'answered and not stored');
        // At most the one that a killed worker did not come to note.
        holds(count($stored) - count(file($answered)) <= 20, 'stored and not answered');
        sound();
    },
]);
