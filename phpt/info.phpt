--TEST--
askr_info() says what is loaded, what is used, and where each setting came from
--ENV--
ASKR_QUEUE_DB=
--INI--
askr.shm_dir={PWD}
askr.shm_name=info
askr.queue_memory=1M
--FILE--
<?php
require __DIR__ . '/askr.inc';

$info = askr_info();
echo implode(', ', array_keys($info)), "\n";
var_dump(
    preg_match('/^\d+\.\d+\.\d+$/', $info['version']),
    $info['version'] === phpversion('askr'),
    version_compare($info['sqlite_version'], '3.38', '>='),
);
$info['settings']['askr.shm_dir']['value'] = '{PWD}';
echo json_encode([$info['contracts'], $info['settings']], JSON_UNESCAPED_SLASHES), "\n";
$queue = $info['queue'];
echo implode(', ', array_keys($queue)), "\n";
var_dump(
    $queue['tier'] === 'L1' && $queue['path'] === __DIR__ . '/info.queue' && $queue['size'] === 1 << 20,
    $queue['used'] + $queue['free'] === $queue['size'],
    [$queue['largest_free'], $queue['repairs'], $queue['waiters']] === [1 << 17, 0, 0],
);

ini_set('askr.queue_db', '/from/script');
ini_set('askr.busy_timeout', 'wrong');
echo json_encode(array_filter(askr_info()['settings'], fn ($s) => $s['source'] === 'script')), "\n";
ini_restore('askr.busy_timeout');
echo json_encode(askr_info()['settings']['askr.busy_timeout']), "\n";

$code = '$q = askr_info()["queue"]; echo json_encode([$q["tier"], $q["path"], isset($q["error"]), '
    . 'array_map(fn ($s) => $s["source"], array_intersect_key(askr_info()["settings"], ["askr.queue_db" => 1, "askr.queue_synchronous" => 1]))], JSON_UNESCAPED_SLASHES), "\n";';
$here = ['askr.shm_dir' => __DIR__, 'askr.shm_name' => 'info'];
echo other_process($code, ['askr.queue_db' => '/no/option', 'askr.queue_synchronous' => 'normal'], ['ASKR_QUEUE_DB' => '/x']);
echo other_process($code, ['askr.queue_db' => ''], ['ASKR_QUEUE_DB' => '/no/environment']);
echo other_process("putenv('ASKR_QUEUE_DB=/no/putenv'); $code", ['askr.queue_db' => '']);
echo str_replace(__DIR__, '{PWD}', other_process($code, ['askr.queue_db' => ''] + $here));
?>
--CLEAN--
<?php
array_map('unlink', glob(__DIR__ . '/info.{queue,bell}', GLOB_BRACE));
?>
--EXPECT--
version, contracts, queue, sqlite_version, settings
int(1)
bool(true)
bool(true)
[{"queue":1},{"askr.queue_db":{"value":"","source":"default"},"askr.shm_dir":{"value":"{PWD}","source":"php.ini"},"askr.shm_name":{"value":"info","source":"php.ini"},"askr.shm_mode":{"value":"0600","source":"default"},"askr.queue_memory":{"value":"1M","source":"php.ini"},"askr.busy_timeout":{"value":"5000","source":"default"},"askr.queue_synchronous":{"value":"full","source":"default"}}]
tier, path, size, used, free, largest_free, repairs, waiters
bool(true)
bool(true)
bool(true)
{"askr.queue_db":{"value":"\/from\/script","source":"script"},"askr.busy_timeout":{"value":"wrong","source":"script"}}
{"value":"5000","source":"default"}
["L2","/no/option",true,{"askr.queue_db":"php.ini","askr.queue_synchronous":"php.ini"}]
["L2","/no/environment",true,{"askr.queue_db":"environment","askr.queue_synchronous":"default"}]
["L2","/no/putenv",true,{"askr.queue_db":"environment","askr.queue_synchronous":"default"}]
["L1","{PWD}/info.queue",false,{"askr.queue_db":"php.ini","askr.queue_synchronous":"default"}]
