<?php

/* Loading the extension: it opens nothing, starts nothing, and a wrong setting does not keep PHP from starting. */

declare(strict_types=1);

/** Runs PHP with the extension and these options, without the test's harness; what it prints. */
function bare(array $options, string $code = ''): string
{
    $command = [php_command()[0], '-n', ...$options];
    $process = new Process($code === '' ? $command : [...$command, '-r', $code]);
    same(0, $process->wait(), implode(' ', $command) . ': ' . $process->output());

    return $process->output();
}

$askr = ['-d', 'extension=' . getenv('ASKR_EXTENSION')];
// PDO's modules, where they are not compiled in.
$pdo = fn () => array_merge(...array_map(
    fn ($module) => ['-d', "extension=$module"],
    array_filter(['pdo', 'pdo_sqlite'], fn ($module) => in_array("extension=$module", php_command(), true)),
));

return [
    'php -m, -i and --ri, also with settings that are wrong' => function () use ($askr) {
        $wrong = ['askr.busy_timeout=-1', 'askr.busy_timeout=abc', 'askr.busy_timeout=99999999G', 'askr.queue_synchronous=-1', 'askr.queue_db=-1', 'askr.queue_db=/proc'];
        foreach (['', ...$wrong] as $setting) {
            $options = $setting === '' ? $askr : [...$askr, '-d', $setting];
            same(1, substr_count(bare([...$options, '-m']), "\naskr\n"), "php -m with $setting");
            $info = bare([...$options, '-i']);
            foreach (['askr => enabled', 'SQLite => 3.', 'askr.queue_db =>', 'askr.busy_timeout =>', 'askr.queue_synchronous =>'] as $line) {
                holds(str_contains($info, "\n$line"), "php -i shows $line with $setting");
            }
            holds(!str_contains($info, 'Warning'), $info);
            holds(str_starts_with(trim(bare([...$options, '--ri', 'askr'])), 'askr'), "php --ri askr with $setting");
        }
    },

    'a wrong setting in php.ini is an exception at use' => function () {
        foreach (['askr.busy_timeout' => '99999999G', 'askr.queue_synchronous' => 'off', 'askr.queue_db' => 'queue.db'] as $name => $value) {
            $code = 'try { askr_queue_push("q", "x"); } catch (Askr\UnavailableException $e) { echo $e->getMessage(); }';
            $said = answer($code, [], [$name => $value]);
            holds(str_contains($said, $value), "$name: $said");
        }
    },

    'it loads before and after pdo_sqlite, and both use one library' => function () use ($askr, $pdo) {
        $code = 'ini_set("askr.queue_db", "' . db() . '"); askr_queue_push("q", "x");
            echo (new PDO("sqlite:' . db() . '"))->query("SELECT count(*), sqlite_version() FROM askr_jobs")->fetchAll(PDO::FETCH_NUM)[0][1] === askr_info()["sqlite_version"] ? "same" : "other";
            echo count(array_unique(preg_grep("/libsqlite3/", preg_replace("/.* /", "", file("/proc/self/maps")))));';
        same('same1', bare([...$askr, ...$pdo()], $code), 'before');
        same('same1', bare([...$pdo(), ...$askr], $code), 'after');
        same('2', answer('echo askr_queue_size("q");'), 'jobs');
    },

    'nothing is opened and no thread runs before the first use' => function () {
        $look = '$status = file_get_contents("/proc/self/status"); preg_match("/Threads:\s+(\d+)/", $status, $threads); echo $threads[1], " ";
            echo count(preg_grep("/queue.db/", array_map(fn ($fd) => (string) @readlink($fd), glob("/proc/self/fd/*")))), "\n";';
        same("1 0\n", answer("ob_start(); phpinfo(); ob_end_clean(); $look"), 'threads and files');
        holds(!file_exists(db()), 'no database was made');
        $used = answer("askr_queue_push('q', 'x'); askr_queue_pop('q'); $look");
        holds(str_starts_with($used, '1 ') && $used !== "1 0\n", "in use there are files but no thread: $used");
        // A heartbeat is the one thread, and it ends with the script.
        holds(str_starts_with(answer("\$id = askr_queue_push('h', 'x'); askr_queue_pop('h'); askr_heartbeat_start(\$id); $look"), '2 '), 'a heartbeat');
    },

    'it exports no symbol of SQLite and links the system\'s library' => function () {
        need('nm');
        same('', implode(' ', preg_grep('/ sqlite3_/', explode("\n", program('nm', '-D', '--defined-only', getenv('ASKR_EXTENSION'))))), 'symbols');
        holds(str_contains(program('ldd', getenv('ASKR_EXTENSION')), 'libsqlite3.so'), 'it links libsqlite3');
    },

    'valgrind finds nothing wrong' => function () use ($askr) {
        need('valgrind');
        putenv('USE_ZEND_ALLOC=0');
        $php = php_command()[0];
        $valgrind = ['valgrind', '--quiet', '--error-exitcode=9'];
        $runs = [
            ['-m'],
            ['-d', 'askr.queue_db=' . db(), __DIR__ . '/lib/valgrind.php'],
        ];
        foreach ($runs as $run) {
            $process = new Process([...$valgrind, $php, '-n', ...$askr, ...$run]);
            same(0, $process->wait(100), $process->output());
        }
        holds(str_ends_with($process->output(), "done\n"), $process->output());
    },
];
