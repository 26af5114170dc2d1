<?php

/* PHP-FPM: requests, reloads, preloading, and settings that come from the pool. */

declare(strict_types=1);

require_once __DIR__ . '/lib/Fpm.php';

$extension = 'extension=' . getenv('ASKR_EXTENSION');

/** What of the queue's a process has open. */
function opened_by(int $pid): array
{
    $names = array_map(fn ($fd) => (string) @readlink($fd), glob("/proc/$pid/fd/*"));

    return array_values(preg_grep('/queue\.db/', $names));
}

function threads_of(int $pid): int
{
    return count(glob("/proc/$pid/task/*"));
}

return [
    'requests, workers on the command line, ten reloads, stop' => function () use ($extension) {
        $fpm = new Fpm(['askr.queue_db' => db()], [$extension]);
        $worker = php('
            for ($handled = 0; $handled < 22;) {
                if ($job = askr_queue_pop("q", 60, 30.0)) {
                    askr_queue_delete($job["id"], $job["attempts"]);
                    echo "$job[payload]\n";
                    $handled++;
                }
            }
        ');
        $expected = [];
        for ($reload = 0; $reload <= 10; $reload++) {
            if ($reload > 0) {
                $fpm->reload();
            }
            for ($i = 0; $i < 2; $i++) {
                $expected[] = "$reload.$i";
                holds((int) $fpm->request("echo askr_queue_push('q', '$reload.$i');") > 0, 'pushed in a request');
            }
            same([], opened_by($fpm->master->pid()), 'the master opened nothing');
            same(1, threads_of($fpm->master->pid()), 'threads of the master');
        }
        same(0, $worker->wait(), $worker->output());
        $handled = explode("\n", trim($worker->output()));
        sort($handled, SORT_NATURAL);
        same($expected, $handled, 'jobs handled');
        // The other way: pushed outside, popped in a request.
        answer('askr_queue_push("r", "from outside");');
        same('from outside', $fpm->request('$job = askr_queue_pop("r"); askr_queue_delete($job["id"]); echo $job["payload"];'), 'popped in a request');
        same('0', $fpm->request('echo askr_queue_stats("r")["total"];'), 'deleted in a request');
        $fpm->stop();
        sound();
    },

    'a push while the master preloads' => function () use ($extension) {
        file_put_contents(folder('preload.php'), '<?php askr_queue_push("q", "preloaded"); function preloaded() {}');
        $options = [$extension, 'zend_extension=opcache', 'opcache.enable=1', 'opcache.preload=' . folder('preload.php'), 'askr.queue_db=' . db()];
        if (posix_geteuid() === 0) {
            $options[] = 'opcache.preload_user=nobody';
        }
        $fpm = new Fpm([], $options);
        same('yes', $fpm->request('echo function_exists("preloaded") ? "yes" : "no";'), 'preloaded');
        same(1, (int) answer('echo askr_queue_size("q");'), 'the job of the preload script');
        for ($i = 0; $i < 20; $i++) {
            $fpm->request('askr_queue_push("q", "x");');
        }
        same('21', answer('echo askr_queue_size("q");'), 'jobs');
        same([], preg_grep('/-(wal|shm)$/', opened_by($fpm->master->pid())), 'the master keeps no connection');
        same(1, threads_of($fpm->master->pid()), 'threads of the master');
        $fpm->reload();
        same('22', $fpm->request('echo askr_queue_size("q");'), 'jobs, with that of the second preload');
        $fpm->stop();
        sound();
    },

    'settings of a pool, and where they came from' => function () use ($extension) {
        $pool = ['askr.queue_db' => db(), 'askr.busy_timeout' => '1234', 'askr.queue_synchronous' => 'normal'];
        $fpm = new Fpm($pool, [$extension]);
        $sources = 'foreach (askr_info()["settings"] as $name => $s) echo $s["source"] === "default" ? "" : "$name=$s[value]=$s[source]\n";';
        $expected = [];
        foreach ($pool as $name => $value) {
            $expected[] = "$name=$value=php_admin_value\n";
        }
        // The master's own option stands second in the table of settings.
        array_splice($expected, 1, 0, ['askr.shm_dir=' . folder() . "=php.ini\n"]);
        $expected = implode('', $expected);
        same($expected, $fpm->request($sources), 'sources');
        // A script cannot change what the administrator set, and the next request is not affected.
        same('no', $fpm->request('echo ini_set("askr.queue_db", "/elsewhere") === false ? "no" : "yes";'), 'changed by a script');
        same($expected, $fpm->request($sources), 'sources in a later request');
        // A path that the administrator chose need not be within open_basedir.
        same('1', $fpm->request('ini_set("open_basedir", __FILE__); echo askr_queue_push("q", "x");'), 'pushed');
        $fpm->stop();
    },

    'an environment variable that a request sets is that request\'s' => function () use ($extension) {
        $fpm = new Fpm([], [$extension]);
        same('environment', $fpm->request('putenv("ASKR_QUEUE_DB=' . db() . '"); askr_queue_push("q", "x"); echo askr_info()["settings"]["askr.queue_db"]["source"];'), 'source');
        for ($i = 0; $i < 4; $i++) {
            same('default', $fpm->request('echo askr_info()["settings"]["askr.queue_db"]["source"];'), 'source in a later request');
        }
        $fpm->stop();
    },

    'a heartbeat ends with its request' => function () use ($extension) {
        $fpm = new Fpm(['askr.queue_db' => db()], [$extension]);
        same('11', $fpm->request('$id = askr_queue_push("q", "x"); askr_queue_pop("q", 2); echo (int) askr_heartbeat_start($id, 2), (int) askr_heartbeat_alive($id);'), 'runs');
        foreach ($fpm->workers() as $worker) {
            same(1, threads_of($worker), 'threads of a worker');
        }
        same('2', answer('echo askr_queue_pop("q", 60, 20.0)["attempts"];'), 'it lapses, and another takes it');
        $fpm->stop();
    },

    'a pool that loads the extension itself' => function () use ($extension) {
        $fpm = new Fpm(['extension' => getenv('ASKR_EXTENSION')]);
        same('1', $fpm->request('ini_set("askr.queue_db", "' . db() . '"); echo askr_queue_push("q", "x");'), 'pushed');
        same('2', $fpm->request('ini_set("askr.queue_db", "' . db() . '"); echo askr_queue_push("q", "x");'), 'pushed');
        try {
            $fpm->request('try { throw new Askr\BusyException; } catch (RuntimeException $e) { echo $e::class; } askr_queue_push("", "");');
        } finally {
            echo $fpm->log();
        }
        $fpm->stop();
    },
];
