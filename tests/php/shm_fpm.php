<?php

/* PHP-FPM and the command line on one segment in shared memory. */

declare(strict_types=1);

require_once __DIR__ . '/lib/Fpm.php';

/** The options of a PHP-FPM on the test's segment. */
function on_segment(array $settings = []): array
{
    $settings += ['askr.shm_dir' => folder(), 'askr.shm_name' => 'test'];
    $options = array_map(fn ($name, $value) => "$name=$value", array_keys($settings), $settings);

    return ['extension=' . getenv('ASKR_EXTENSION'), ...$options];
}

/** Code that makes a PHP which root started another user's, in the group of FPM's workers. */
function as_another_user(): string
{
    return posix_geteuid() === 0 ? 'posix_initgroups("daemon", 65534); posix_setgid(65534); posix_setuid(1);' : '';
}

/** What of a segment a process has open or mapped. */
function segments_of(int $pid): array
{
    $names = array_map(fn ($fd) => (string) @readlink($fd), glob("/proc/$pid/fd/*"));

    return preg_grep('/\.(queue|bell)\b/', [...$names, ...file("/proc/$pid/maps", FILE_IGNORE_NEW_LINES)]);
}

return in_memory([
    'requests write and another user\'s workers read, through reloads and a restart' => function () {
        chmod(folder(), 01777);
        $options = on_segment(['askr.shm_mode' => '0660']);
        $fpm = new Fpm([], $options);
        same('1', $fpm->request('echo (int) (askr_queue_push("kept", "through the restart") > 0);'), 'pushed');
        $worker = php(as_another_user() . '
            echo "user ", posix_geteuid(), "\n";
            while (($job = askr_queue_pop("q", 60, 30.0))["payload"] !== "the end") {
                echo "$job[payload]\n";
                askr_queue_delete($job["id"], $job["attempts"]);
            }
        ', [], ['askr.shm_mode' => '0660'])->says('user');
        $expected = [];
        for ($round = 0; $round <= 12; $round++) {
            if ($round === 11) {
                $fpm->stop();
                $fpm = new Fpm([], $options);
            } elseif ($round > 0) {
                $fpm->reload();
            }
            for ($i = 0; $i < 5; $i++) {
                $expected[] = "$round.$i";
                $fpm->request("askr_queue_push('q', '$round.$i');");
            }
            same([], segments_of($fpm->master->pid()), 'of the master');
        }
        holds(array_merge(...array_map(segments_of(...), $fpm->workers())) !== [], 'the workers have it open');
        $fpm->request('askr_queue_push("q", "the end");');
        same(0, $worker->wait(), $worker->output());
        same($expected, array_slice(explode("\n", trim($worker->output())), 1), 'jobs handled, in order');
        same('through the restart 1', $fpm->request('$job = askr_queue_pop("kept"); echo "$job[payload] $job[attempts]";'), 'the job of before');
        $fpm->stop();
    },

    'a push while the master preloads' => function () {
        file_put_contents(folder('preload.php'), '<?php askr_queue_push("q", "preloaded"); function preloaded() {}');
        $options = [...on_segment(), 'zend_extension=opcache', 'opcache.enable=1', 'opcache.preload=' . folder('preload.php')];
        if (posix_geteuid() === 0) {
            $options[] = 'opcache.preload_user=nobody';
        }
        $fpm = new Fpm([], $options);
        for ($i = 0; $i < 20; $i++) {
            $fpm->request('preloaded(); askr_queue_push("q", "x");');
        }
        same('21', $fpm->request('echo askr_queue_size("q");'), 'jobs, with that of the preload');
        same([], segments_of($fpm->master->pid()), 'of the master');
        $fpm->reload();
        same('22', $fpm->request('echo askr_queue_size("q");'), 'jobs, with that of the second preload');
        $fpm->stop();
    },

    'pools with names of their own do not meet, and the pool says where its name is from' => function () {
        chmod(folder(), 01777);
        $fpm = new Fpm(['askr.shm_name' => 'pool'], on_segment());
        $fpm->request('askr_queue_push("q", "of the pool");');
        askr_queue_push('q', 'of the command line');
        same('1 php_admin_value', $fpm->request('echo askr_queue_size("q"), " ", askr_info()["settings"]["askr.shm_name"]["source"];'), 'jobs of the pool');
        same(1, askr_queue_size('q'), 'jobs of the command line');
        holds(file_exists(folder('pool.queue')) && file_exists(folder('test.queue')), 'a segment each');
        $fpm->stop();
    },

    'users without a common name do not meet' => function () {
        need_root();
        chmod(folder(), 01777);
        $fpm = new Fpm([], on_segment(['askr.shm_name' => '']));
        $fpm->request('askr_queue_push("q", "of nobody");');
        same('0', answer('echo askr_queue_size("q");', [], ['askr.shm_name' => '']), 'jobs of root');
        same(['askr-0.queue', 'askr-65534.queue'], array_map('basename', glob(folder('*.queue'))), 'segments');
        same(0600, fileperms(folder('askr-65534.queue')) & 0777, 'mode');
        $fpm->stop();
    },

    'a second user is told owner and mode' => function () {
        need_root();
        chmod(folder(), 01777);
        $fpm = new Fpm([], on_segment());
        $fpm->request('askr_queue_push("q", "x");');
        $code = as_another_user() . 'echo thrown(fn () => askr_queue_push("q", "x"))->getMessage();';
        $strangers = [
            'without a shared mode' => $code,
            'that is root' => 'echo thrown(fn () => askr_queue_push("q", "x"))->getMessage();',
        ];
        foreach ($strangers as $who => $code) {
            $said = answer($code);
            foreach ([folder('test.queue'), 'user 65534', 'mode 0600', 'askr.shm_mode'] as $text) {
                holds(str_contains($said, $text), "a user $who reads \"$text\" in: $said");
            }
        }
        same('1', $fpm->request('echo askr_queue_size("q");'), 'jobs');
        $fpm->stop();
    },

    'root is first, with umask 077, and shares with whom its group holds' => function () {
        need_root();
        chmod(folder(), 01777);
        $shared = ['askr.shm_mode' => '0660'];
        answer('umask(0077); posix_setgid(65534); echo askr_queue_push("q", "x");', [], $shared);
        $fpm = new Fpm([], on_segment($shared));
        same('2', $fpm->request('askr_queue_push("q", "x"); echo askr_queue_size("q");'), 'jobs');
        same('3', answer('askr_queue_push("q", "x"); echo askr_queue_size("q");', [], $shared), 'jobs, for root');
        $outside = 'posix_initgroups("daemon", 1); posix_setgid(1); posix_setuid(1);
            echo thrown(fn () => askr_queue_push("q", "x"))->getMessage();';
        $said = answer($outside, [], $shared);
        holds(str_contains($said, 'user 0, mode 0660'), "owner and mode are in: $said");
        $fpm->stop();
    },
]);
