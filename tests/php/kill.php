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

return [
    'while they pop' => function () {
        askr_queue_push_many('q', array_map('strval', range(1, 200)), max_attempts: PHP_INT_MAX);
        $seen = folder('seen');
        $note = fn (array $job) => file_put_contents($seen, "$job[id] $job[attempts] $job[payload]\n", FILE_APPEND);
        kill_workers(50, function () use ($note) {
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
        kill_workers(40, function () {
            if ($job = askr_queue_pop('q', 0)) {
                askr_queue_fail($job['id'], null, 'because', $job['attempts']);
            }
        });
        $both = 'SELECT payload FROM askr_jobs UNION ALL SELECT payload FROM askr_failed_jobs';
        same('3000|3000', sql("SELECT count(*), count(DISTINCT payload) FROM ($both)"), 'jobs, and different ones');
        holds((int) sql('SELECT count(*) FROM askr_failed_jobs') > 40, 'some were moved');
        sound();
    },

    'while they retry dead letters' => function () {
        askr_queue_push_many('q', array_map('strval', range(1, 500)));
        while ($job = askr_queue_pop('q')) {
            askr_queue_fail($job['id']);
        }
        kill_workers(20, function () {
            foreach (askr_failed_list(5) as $letter) {
                askr_failed_retry($letter['id']);
            }
            if ($job = askr_queue_pop('q', 0)) {
                askr_queue_fail($job['id'], null, null, $job['attempts']);
            }
        });
        $both = 'SELECT payload FROM askr_jobs UNION ALL SELECT payload FROM askr_failed_jobs';
        same('500|500', sql("SELECT count(*), count(DISTINCT payload) FROM ($both)"), 'jobs, and different ones');
        sound();
    },

    'while they release' => function () {
        $id = askr_queue_push('q', 'x', max_attempts: PHP_INT_MAX);
        $created = sql('SELECT created_at FROM askr_jobs');
        kill_workers(40, function () {
            if ($job = askr_queue_pop('q', 0)) {
                askr_queue_release($job['id'], 0, $job['attempts']);
            }
        });
        same("1|$id|x|$created", sql('SELECT count(*), id, payload, created_at FROM askr_jobs'), 'the one job');
        holds(askr_queue_pop('q')['attempts'] > 40, 'claimed again and again');
        sound();
    },

    'while they push: what was answered is there, once' => function () {
        $answered = folder('answered');
        kill_workers(40, function () use ($answered) {
            $payload = bin2hex(random_bytes(8));
            askr_queue_push('q', $payload);
            file_put_contents($answered, "$payload\n", FILE_APPEND);
        });
        $stored = explode("\n", sql('SELECT payload FROM askr_jobs'));
        same(count($stored), count(array_unique($stored)), 'each once');
        same([], array_diff(file($answered, FILE_IGNORE_NEW_LINES), $stored), 'answered and not stored');
        // At most the one that a killed worker did not come to note.
        holds(count($stored) - count(file($answered)) <= 40, 'stored and not answered');
        sound();
    },
];
