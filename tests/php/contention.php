<?php

/* Many processes at one database. */

declare(strict_types=1);

/** Starts forks that begin together, and waits for them. */
function together(int $processes, callable $work): void
{
    $children = [];
    for ($n = 0; $n < $processes; $n++) {
        $children[] = fork(function () use ($work, $n) {
            touch(folder("ready.$n"));
            while (!file_exists(folder('go'))) {
                usleep(200);
                clearstatcache();
            }
            $work($n);
        });
    }
    until(fn () => count(glob(folder('ready.*'))) === $processes, 'all are ready');
    touch(folder('go'));
    foreach ($children as $n => $child) {
        same(0, join_fork($child), "process $n");
    }
    array_map('unlink', [folder('go'), ...glob(folder('ready.*'))]);
}

return [
    '24 first pushes to a database that does not exist' => function () {
        for ($round = 0; $round < 5; $round++) {
            together(24, function () {
                for ($i = 0; $i < 2; $i++) {
                    holds(askr_queue_push('q', 'x') > 0, 'an id');
                }
            });
            same('48|48', sql('SELECT count(*), max(id) FROM askr_jobs'), "round $round");
            array_map('unlink', glob(db() . '*'));
        }
    },

    '16 processes push, pop, release and delete while other programs read and write' => function () {
        askr_queue_push('q', '-1');
        $outside = new Process(['sh', '-c', 'while [ ! -e "$1" ]; do sqlite3 -cmd ".timeout 20000" "$2" \
            "SELECT count(*) FROM askr_jobs; CREATE TABLE IF NOT EXISTS other (x); INSERT INTO other VALUES (1)" || exit 1; done',
            'sh', folder('stop'), db()]);
        until(fn () => (int) sql("SELECT count(*) FROM sqlite_master WHERE name = 'other'") === 1, 'the other program writes');
        $end = microtime(true) + 4;
        together(16, function (int $n) use ($end) {
            $done = fopen(folder("done.$n"), 'a');
            [$pushed, $deleted] = [0, 0];
            for ($i = 0; microtime(true) < $end; $i++) {
                askr_queue_push('q', "$n.$i");
                $pushed++;
                $job = askr_queue_pop('q', 600);
                if ($job === null) {
                    continue;
                }
                if ($i % 5 === 0) {
                    same(true, askr_queue_release($job['id'], 0, $job['attempts']), 'released');
                } else {
                    fwrite($done, "$job[id]\n");
                    same(true, askr_queue_delete($job['id'], $job['attempts']), 'deleted');
                    $deleted++;
                }
            }
            holds($pushed > 5, "process $n made progress: $pushed pushed, $deleted deleted");
            file_put_contents(folder("sum.$n"), "$pushed $deleted");
        });
        touch(folder('stop'));
        same(0, $outside->wait(), $outside->output());
        holds(!str_contains($outside->output(), 'rror'), $outside->output());

        $handled = array_merge(...array_map(fn ($file) => file($file, FILE_IGNORE_NEW_LINES), glob(folder('done.*'))));
        same(count($handled), count(array_unique($handled)), 'handled, and handled once');
        $sums = array_map(fn ($file) => explode(' ', file_get_contents($file)), glob(folder('sum.*')));
        $pushed = 1 + array_sum(array_column($sums, 0));
        same($pushed - count($handled), askr_queue_stats('q')['total'], "left of $pushed");
        sound();
    },
] + on_both_tiers([
    '50 processes die of memory_limit over a job, and nobody else waits' => function () {
        askr_queue_push('big', str_repeat('x', 3_000_000), 0, 0, PHP_INT_MAX);
        $watcher = fork(function () {
            ini_set('askr.busy_timeout', '2000');
            for ($rounds = 0; !file_exists(folder('over')); $rounds++, clearstatcache()) {
                $id = askr_queue_push('small', 'x');
                same($id, askr_queue_pop('small')['id'], 'popped');
                same(true, askr_queue_delete($id), 'deleted');
            }
            holds($rounds > 50, "$rounds rounds");
        });
        // Half of them can still be ended in good order, for the others there is not even room for that.
        $children = [];
        for ($n = 0; $n < 50; $n++) {
            $limit = $n % 2 ? '4M' : '2M';
            $children[] = php('while (true) { askr_queue_pop("big", 0); }', [], ['memory_limit' => $limit]);
            if (count($children) === 5 || $n === 49) {
                foreach ($children as $child) {
                    holds(in_array($child->wait(), [255, 137], true), 'ended by the limit: ' . $child->output());
                    holds(str_contains($child->output(), 'emory'), $child->output());
                }
                $children = [];
            }
        }
        touch(folder('over'));
        same(0, join_fork($watcher), 'watcher');
        $job = askr_queue_pop('big');
        same(3_000_000, strlen($job['payload']), 'the job is still there');
        holds($job['attempts'] >= 51, "claimed $job[attempts] times");
        same(1, askr_queue_stats('big')['total'], 'jobs');
        sound();
    },
]);
