<?php

/*
 * What a job costs: push, pop and acknowledge, each timed by itself, in askr's two tiers and in what else an
 * application might use. `benches/run` starts it, with the command that runs PHP as the arguments.
 *
 * Each measurement runs in a process of its own. A figure is the median, less what reading the clock costs.
 */

declare(strict_types=1);

const SECONDS_FOR_A_MEASUREMENT = 120;
define('PAYLOAD', json_encode(['attempts' => 0, 'data' => str_repeat('.', 200 - strlen('{"attempts":0,"data":""}'))]));

/** A queue in three functions: push, pop (answers the job), acknowledge. */
$askr = static fn (): array => [
    static fn () => askr_queue_push('q', PAYLOAD),
    static fn () => askr_queue_pop('q', 60),
    static fn (array $job) => askr_queue_delete($job['id'], $job['attempts']),
];

/** The fewest commands that make a queue: one each. What is delayed or lapsed is nobody's business. */
$redis = static function (): array {
    [$redis, $script] = connect_to_redis();
    $pop = $script("
        local job = redis.call('lpop', KEYS[1])
        if job then redis.call('zadd', KEYS[2], ARGV[1], job) end
        return job
    ");

    return [
        static fn () => $redis->rPush('q', PAYLOAD),
        static fn () => $pop(['q', 'q:reserved'], [time() + 60]),
        static fn (string $job) => $redis->zRem('q:reserved', $job),
    ];
};

/** What Laravel's driver asks of Redis: a pop first moves the delayed and then the lapsed jobs that are due. */
$laravel_redis = static function (): array {
    [$redis, $script] = connect_to_redis();
    $push = $script("
        redis.call('rpush', KEYS[1], ARGV[1])
        redis.call('rpush', KEYS[2], 1)
    ");
    $migrate = $script("
        local due = redis.call('zrangebyscore', KEYS[1], '-inf', ARGV[1], 'limit', 0, -1)
        for _, job in ipairs(due) do
            redis.call('zrem', KEYS[1], job)
            redis.call('rpush', KEYS[2], job)
            redis.call('rpush', KEYS[3], 1)
        end
        return due
    ");
    $pop = $script("
        local job = redis.call('lpop', KEYS[1])
        if not job then return false end
        local reserved = cjson.decode(job)
        reserved.attempts = reserved.attempts + 1
        reserved = cjson.encode(reserved)
        redis.call('zadd', KEYS[2], ARGV[1], reserved)
        redis.call('lpop', KEYS[3])
        return reserved
    ");

    return [
        static fn () => $push(['q', 'q:notify'], [PAYLOAD]),
        static function () use ($migrate, $pop): string {
            $migrate(['q:delayed', 'q', 'q:notify'], [time()]);
            $migrate(['q:reserved', 'q', 'q:notify'], [time()]);

            return $pop(['q', 'q:reserved', 'q:notify'], [time() + 60]);
        },
        static fn (string $job) => $redis->zRem('q:reserved', $job),
    ];
};

/** @return array{Redis, Closure(string): Closure} a connection to an empty Redis, and what makes scripts callable */
function connect_to_redis(): array
{
    $redis = new Redis();
    $redis->connect(getenv('BENCH_FOLDER') . '/redis.sock');
    $redis->flushAll();

    return [$redis, static function (string $script) use ($redis): Closure {
        $sha = $redis->script('load', $script);

        return static fn (array $keys, array $arguments) => $redis->evalSha($sha, [...$keys, ...$arguments], count($keys));
    }];
}

/** As Laravel's driver does it, with the settings that let several workers write. */
$database = static function (): array {
    $db = new PDO('sqlite:' . getenv('BENCH_FOLDER') . '/laravel.db');
    $db->exec('PRAGMA journal_mode = WAL');
    $db->exec('PRAGMA busy_timeout = 5000');
    $db->exec('CREATE TABLE jobs (id INTEGER PRIMARY KEY AUTOINCREMENT, queue VARCHAR NOT NULL, payload TEXT NOT NULL,
        attempts INTEGER NOT NULL, reserved_at INTEGER, available_at INTEGER NOT NULL, created_at INTEGER NOT NULL)');
    $db->exec('CREATE INDEX jobs_queue_index ON jobs (queue)');
    $push = $db->prepare('INSERT INTO jobs (queue, payload, attempts, available_at, created_at) VALUES (?, ?, 0, ?, ?)');
    $next = $db->prepare('SELECT * FROM jobs WHERE queue = ? AND ((reserved_at IS NULL AND available_at <= ?)
        OR reserved_at <= ?) ORDER BY id LIMIT 1');
    $claim = $db->prepare('UPDATE jobs SET reserved_at = ?, attempts = ? WHERE id = ?');
    $find = $db->prepare('SELECT * FROM jobs WHERE id = ?');
    $delete = $db->prepare('DELETE FROM jobs WHERE id = ?');
    $one = static function (PDOStatement $statement, array $values): array {
        $statement->execute($values);
        [$row] = $statement->fetchAll(PDO::FETCH_ASSOC);

        return $row;
    };

    return [
        static fn () => $push->execute(['q', PAYLOAD, time(), time()]),
        static function () use ($db, $one, $next, $claim): array {
            $db->exec('BEGIN IMMEDIATE');
            $job = $one($next, ['q', time(), time() - 60]);
            $claim->execute([time(), $job['attempts'] + 1, $job['id']]);
            $db->exec('COMMIT');

            return $job;
        },
        static function (array $job) use ($db, $one, $find, $delete): void {
            $db->exec('BEGIN IMMEDIATE');
            $one($find, [$job['id']]);
            $delete->execute([$job['id']]);
            $db->exec('COMMIT');
        },
    ];
};

/** What the processes of this script do, by name. Each answers what is printed as JSON. */
$measurements = [
    // Medians in nanoseconds, with so many jobs waiting.
    'askr' => static fn (string $times, string $backlog): array => costs($askr(), (int) $times, (int) $backlog),
    'redis' => static fn (string $times): array => costs($redis(), (int) $times),
    'laravel-redis' => static fn (string $times): array => costs($laravel_redis(), (int) $times),
    'database' => static fn (string $times): array => costs($database(), (int) $times),

    // How many jobs are pushed, popped and acknowledged in a second.
    'throughput' => static function (string $start) use ($askr): float {
        [$push, $pop, $acknowledge] = $askr();
        while (hrtime(true) < (int) $start) {
        }
        for ($jobs = 0; hrtime(true) < (int) $start + 1_500_000_000; $jobs++) {
            $push();
            // In between, the other process may have taken it.
            if (($job = $pop()) !== null) {
                $acknowledge($job);
            }
        }

        return $jobs / 1.5;
    },

    // Nanoseconds from before the push to after the pop, which waits in another process.
    'wait' => static function (string $times): array {
        for ($taken = []; count($taken) < (int) $times;) {
            if (($job = askr_queue_pop('w', 60, 30.0)) !== null) {
                $taken[] = hrtime(true) - (int) $job['payload'];
                askr_queue_delete($job['id'], $job['attempts']);
            }
        }
        sort($taken);

        return [median($taken), $taken[intdiv(count($taken) * 99, 100)]];
    },
    'wake' => static function (string $times): int {
        for ($i = 0; $i < (int) $times; $i++) {
            while (askr_info()['queue']['waiters'] === 0) {
                usleep(100);
            }
            usleep(2_000);
            askr_queue_push('w', (string) hrtime(true));
            while (askr_queue_stats('w')['total'] > 0) {
                usleep(100);
            }
        }

        return 0;
    },
];

/**
 * @param array{callable, callable, callable} $queue
 * @return list<float> the medians of push, pop and acknowledge
 */
function costs(array $queue, int $times, int $backlog = 0): array
{
    [$push, $pop, $acknowledge] = $queue;
    for (; $backlog > 0; $backlog -= 10_000) {
        askr_queue_push_many('q', array_fill(0, min(10_000, $backlog), PAYLOAD));
    }

    $taken = [[], [], [], []];
    for ($i = -intdiv($times, 10); $i < $times; $i++) {
        $t0 = hrtime(true);
        $push();
        $t1 = hrtime(true);
        $job = $pop();
        $t2 = hrtime(true);
        $acknowledge($job);
        $t3 = hrtime(true);
        $t4 = hrtime(true);
        if ($i >= 0) {
            $taken[0][] = $t1 - $t0;
            $taken[1][] = $t2 - $t1;
            $taken[2][] = $t3 - $t2;
            $taken[3][] = $t4 - $t3;
        }
    }
    [$pushed, $popped, $acknowledged, $clock] = array_map(median(...), $taken);

    return [$pushed - $clock, $popped - $clock, $acknowledged - $clock];
}

function median(array $values): float
{
    sort($values);

    return (float) $values[intdiv(count($values), 2)];
}

if (isset($argv[1]) && isset($measurements[$argv[1]])) {
    echo json_encode($measurements[$argv[1]](...array_slice($argv, 2))), "\n";
    exit;
}

$command = array_slice($argv, 1);

/**
 * Starts a measurement in a process of its own.
 *
 * @param list<string> $arguments
 * @param array<string, string> $settings
 * @return Closure(): mixed which waits for its answer
 */
$start = static function (array $arguments, array $settings = []) use ($command): Closure {
    foreach ($settings as $name => $value) {
        array_push($command, '-d', "$name=$value");
    }
    $run = ['timeout', (string) SECONDS_FOR_A_MEASUREMENT, ...$command, __FILE__, ...array_map('strval', $arguments)];
    $process = proc_open($run, [1 => ['pipe', 'w']], $pipes);

    return static function () use ($process, $pipes, $arguments): mixed {
        $printed = stream_get_contents($pipes[1]);
        if (proc_close($process) !== 0) {
            fwrite(STDERR, implode(' ', $arguments) . " failed: $printed\n");
            exit(1);
        }

        return json_decode($printed, true, flags: JSON_THROW_ON_ERROR);
    };
};
$measure = static fn (mixed ...$of): mixed => $start(...$of)();
$fresh = static fn () => array_map('unlink', glob('/dev/shm/' . ini_get('askr.shm_name') . '.*'));
$database_of = static fn (string $name): array => ['askr.queue_db' => getenv('BENCH_FOLDER') . "/$name.db"];

// ---- One job ----
$fresh();
$l1 = $measure(['askr', 100_000, 0]);
$has_redis = extension_loaded('redis') && file_exists(getenv('BENCH_FOLDER') . '/redis.sock');
$rows = [
    'askr, shared memory' => $l1,
    'redis, the fewest commands (3)' => $has_redis ? $measure(['redis', 3_000]) : null,
    'redis, the commands of Laravel\'s driver (5)' => $has_redis ? $measure(['laravel-redis', 3_000]) : null,
    'askr, SQLite, `normal`' => $measure(['askr', 3_000, 0], $database_of('normal') + ['askr.queue_synchronous' => 'normal']),
    'askr, SQLite, `full`' => $measure(['askr', 300, 0], $database_of('full')),
    'database, the statements of Laravel\'s driver (PDO, SQLite, `full`)' => extension_loaded('pdo_sqlite')
        ? $measure(['database', 300]) : null,
];
printf("Medians in microseconds for a job of 200 bytes, no other job waiting. PHP %s; Redis through phpredis and a\nUnix socket, saving nothing.\n\n", PHP_VERSION);
echo "| queue | push | pop | acknowledge | all three | times askr's in shared memory |\n| --- | --- | --- | --- | --- | --- |\n";
foreach ($rows as $queue => $costs) {
    echo $costs === null ? "| $queue | not on this machine | | | | |\n" : vsprintf("| $queue | %.2f | %.2f | %.2f | %.2f | %.1f |\n", [
        ...array_map(static fn (float $nanoseconds): float => $nanoseconds / 1e3, [...$costs, array_sum($costs)]),
        array_sum($costs) / array_sum($l1),
    ]);
}

// ---- A backlog ----
echo "\nIn shared memory, with other jobs waiting:\n\n";
echo "| jobs waiting | push | pop | acknowledge | all three | times that with none |\n| --- | --- | --- | --- | --- | --- |\n";
$ratios = [];
foreach ([0, 20_000, 1_000_000] as $backlog) {
    $fresh();
    $costs = $measure(['askr', 100_000, $backlog]);
    $none ??= array_sum($costs);
    $ratios[$backlog] = array_sum($costs) / $none;
    vprintf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f |\n", [
        number_format($backlog),
        ...array_map(static fn (float $nanoseconds): float => $nanoseconds / 1e3, [...$costs, array_sum($costs)]),
        $ratios[$backlog],
    ]);
}

// ---- Two processes ----
$throughput = static function (int $processes) use ($start, $fresh): float {
    $fresh();
    $at = hrtime(true) + 300_000_000;
    $running = array_map(static fn () => $start(['throughput', $at]), range(1, $processes));

    return array_sum(array_map(static fn (Closure $answer): float => $answer(), $running));
};
// By turns, and the median of each.
$one = $two = [];
for ($i = 0; $i < 3; $i++) {
    $one[] = $throughput(1);
    $two[] = $throughput(2);
}
$scaling = median($two) / median($one);
printf(
    "\nJobs per second on one queue in shared memory: one process %s, two processes %s (%.2f times).\n",
    number_format(median($one)),
    number_format(median($two)),
    $scaling,
);

// ---- Waking up ----
echo "\n| from a push to the waiting worker's pop, microseconds | median | 99th percentile |\n| --- | --- | --- |\n";
$waits = [];
foreach (['shared memory' => [], 'SQLite' => $database_of('wake') + ['askr.queue_synchronous' => 'normal']] as $tier => $settings) {
    $fresh();
    $waiting = $start(['wait', 500], $settings);
    $measure(['wake', 500], $settings);
    $waits[$tier] = $waiting();
    vprintf("| $tier | %.0f | %.0f |\n", array_map(static fn (float $nanoseconds): float => $nanoseconds / 1e3, $waits[$tier]));
}

// ---- The targets ----
$targets = [
    sprintf('all three under 2 microseconds: %.2f', array_sum($l1) / 1e3) => array_sum($l1) < 2_000,
    sprintf('with 20,000 jobs waiting at most twice: %.2f', $ratios[20_000]) => $ratios[20_000] <= 2,
    sprintf('with 1,000,000 jobs waiting at most four times: %.2f', $ratios[1_000_000]) => $ratios[1_000_000] <= 4,
    sprintf('two processes at least 1.3 times one: %.2f', $scaling) => $scaling >= 1.3,
    'woken within 1 ms, 99 of 100 within 5 ms' => max(array_column($waits, 0)) < 1e6 && max(array_column($waits, 1)) < 5e6,
];
if ($has_redis) {
    $ratio = array_sum($rows['redis, the commands of Laravel\'s driver (5)']) / array_sum($l1);
    $targets[sprintf('at most a hundredth of redis, as Laravel uses it: 1/%.0f', $ratio)] = $ratio >= 100;
}
echo "\n";
foreach ($targets as $target => $met) {
    printf("%-7s %s\n", $met ? 'met' : 'missed', $target);
}
exit(in_array(false, $targets, true) ? 1 : 0);
