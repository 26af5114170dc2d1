--TEST--
askr_info() says what is loaded, and where each setting came from
--ENV--
ASKR_QUEUE_DB=
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
echo json_encode([$info['contracts'], $info['queue'], $info['settings']], JSON_PRETTY_PRINT), "\n";

ini_set('askr.queue_db', '/from/script');
ini_set('askr.busy_timeout', 'wrong');
echo json_encode(askr_info()['settings']), "\n";
ini_restore('askr.busy_timeout');
echo json_encode(askr_info()['settings']['askr.busy_timeout']), "\n";

$code = 'echo json_encode([askr_info()["queue"], array_map(fn ($s) => $s["source"], askr_info()["settings"])]), "\n";';
echo other_process($code, ['askr.queue_db' => '/from/option', 'askr.queue_synchronous' => 'normal'], ['ASKR_QUEUE_DB' => '/x']);
echo other_process($code, ['askr.queue_db' => ''], ['ASKR_QUEUE_DB' => '/from/environment']);
echo other_process("putenv('ASKR_QUEUE_DB=/from/putenv'); $code", ['askr.queue_db' => '']);
echo other_process($code, ['askr.queue_db' => '']);
?>
--EXPECT--
version, contracts, queue, sqlite_version, settings
int(1)
bool(true)
bool(true)
[
    {
        "queue": 1
    },
    {
        "tier": "L1",
        "path": ""
    },
    {
        "askr.queue_db": {
            "value": "",
            "source": "default"
        },
        "askr.busy_timeout": {
            "value": "5000",
            "source": "default"
        },
        "askr.queue_synchronous": {
            "value": "full",
            "source": "default"
        }
    }
]
{"askr.queue_db":{"value":"\/from\/script","source":"script"},"askr.busy_timeout":{"value":"wrong","source":"script"},"askr.queue_synchronous":{"value":"full","source":"default"}}
{"value":"wrong","source":"script"}
[{"tier":"L2","path":"\/from\/option"},{"askr.queue_db":"php.ini","askr.busy_timeout":"default","askr.queue_synchronous":"php.ini"}]
[{"tier":"L2","path":"\/from\/environment"},{"askr.queue_db":"environment","askr.busy_timeout":"default","askr.queue_synchronous":"default"}]
[{"tier":"L2","path":"\/from\/putenv"},{"askr.queue_db":"environment","askr.busy_timeout":"default","askr.queue_synchronous":"default"}]
[{"tier":"L1","path":""},{"askr.queue_db":"php.ini","askr.busy_timeout":"default","askr.queue_synchronous":"default"}]
